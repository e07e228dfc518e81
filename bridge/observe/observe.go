// Package observe exports metrics for Prometheus and traces for OpenTelemetry.
//
// This package measures at the boundaries of the engine: around the store, the
// API handler and the Redis client. It never changes a request. The values of
// labels are bounded: platforms, webhooks and states from the config and the
// code, never texts, agents or IDs. Start with [Observer.Store].
package observe

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Observer collects metrics and creates traces. It implements bridge.Observer.
type Observer struct {
	registry *prometheus.Registry
	tracer   *tracer

	opened    *prometheus.CounterVec
	outcomes  *prometheus.CounterVec
	timeouts  *prometheus.CounterVec
	response  *prometheus.HistogramVec
	handover  *prometheus.HistogramVec
	delivery  *prometheus.HistogramVec
	failures  *prometheus.CounterVec
	paced     *prometheus.CounterVec
	retries   *prometheus.CounterVec
	buried    *prometheus.CounterVec
	clicks    *prometheus.HistogramVec
	visible   *prometheus.HistogramVec
	requests  *prometheus.CounterVec
	counted   sync.Map // values are prometheus.Counter, keys are routeCode
	inFlight  prometheus.Gauge
	redis     prometheus.Histogram
	redisFail prometheus.Counter
}

// Histogram buckets for the response times of calls and of people, in seconds.
var (
	calls  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3, 5, 10, 20}
	people = []float64{1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600}
)

// New returns an Observer for a version of the program. It exports traces to
// endpoint, a URL for OTLP over HTTP. If endpoint is empty, it exports none. It
// traces all requests, or those that OTEL_TRACES_SAMPLER selects.
func New(ctx context.Context, version, endpoint string) (*Observer, error) {
	t, err := newTracer(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	o := &Observer{registry: prometheus.NewRegistry(), tracer: t}
	o.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		o.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		o.registry.MustRegister(h)
		return h
	}
	o.opened = counter("nod_opened_total", "Requests opened.", "kind")
	o.outcomes = counter("nod_outcomes_total", "Requests resolved, excluding timeouts.", "kind", "state")
	o.timeouts = counter("nod_timeouts_total", "Requests that no one answered in time, by the effect of the timeout.", "state")
	o.response = histogram("nod_response_seconds", "Time from opening a request to a person's response.", people, "kind", "platform")
	o.handover = histogram("nod_handover_seconds", "Time from a response to its delivery to the agent.", calls, "kind")
	o.visible = histogram("nod_visible_seconds", "Time from opening a request to posting its card.", calls, "platform")
	o.delivery = histogram("nod_delivery_seconds",
		"Duration of successful calls that post or edit a card, send a reminder, or call a webhook.", calls, "operation", "place")
	o.failures = counter("nod_delivery_failures_total",
		"Failed calls that post or edit a card, send a reminder, or call a webhook.", "operation", "place", "code")
	o.paced = counter("nod_delivery_paced_total", "Calls delayed by a platform's rate limit.", "operation", "place")
	o.retries = counter("nod_retries_total", "Failed jobs scheduled for a retry.", "operation")
	o.buried = counter("nod_dead_letters_total", "Jobs given up after failures.", "operation")
	o.clicks = histogram("nod_click_seconds",
		"Time from receiving a click to acknowledging it to the platform.", calls, "platform", "result")
	o.requests = counter("nod_api_requests_total", "Requests to the API.", "route", "code")
	o.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "nod_api_in_flight", Help: "Requests to the API in progress, most of which wait for a person.",
	})
	o.redis = histogram("nod_redis_seconds", "Duration of round trips to Redis.", calls).WithLabelValues().(prometheus.Histogram)
	o.redisFail = counter("nod_redis_failures_total", "Failed round trips to Redis.").WithLabelValues()
	o.registry.MustRegister(o.inFlight)
	o.registry.MustRegister(buildInfo(version))
	o.begin()
	return o, nil
}

// buildInfo returns a metric that names the version of the program.
func buildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "nod_build_info", Help: "Version of the daemon, always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
}

// begin initializes the counters with zero, because Prometheus sees no increase
// when a series starts at one.
func (o *Observer) begin() {
	for _, k := range []bridge.Kind{bridge.KindAsk, bridge.KindApproval, bridge.KindNotice} {
		o.opened.WithLabelValues(string(k))
		for _, s := range []bridge.State{bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied, bridge.StateExpired, bridge.StateCancelled, bridge.StateSuperseded, bridge.StateUndeliverable} {
			o.outcomes.WithLabelValues(string(k), string(s))
		}
	}
	for _, s := range []string{string(bridge.StateExpired), string(bridge.StateDenied), string(bridge.StateAnswered), deferred} {
		o.timeouts.WithLabelValues(s)
	}
	for _, j := range []life.JobKind{life.JobPost, life.JobEdit, life.JobStep, life.JobRemind, life.JobHook} {
		o.retries.WithLabelValues(string(j))
		o.buried.WithLabelValues(string(j))
	}
}

// Close exports the remaining traces.
func (o *Observer) Close(ctx context.Context) error { return o.tracer.close(ctx) }

// Metrics returns the handler that Prometheus scrapes.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: metricsAtOnce})
}

// metricsAtOnce limits concurrent scrapes, because each scrape queries Redis.
const metricsAtOnce = 4

// Observe implements bridge.Observer.
func (o *Observer) Observe(a bridge.Activity) {
	took := time.Since(a.Began)
	switch a.Name {
	case "form", "click":
		result := string(a.Result)
		if a.Err != nil {
			result = string(bridge.ErrorCode(a.Err))
		}
		o.clicks.WithLabelValues(a.Place, result).Observe(took.Seconds())
	default:
		o.delivered(a, took)
	}
	if !errors.Is(a.Err, bridge.ErrPaced) {
		o.tracer.span(a.Name+" "+a.Place, a.Trace, a.ID, a.Began, a.Err, attribute.String("nod.place", a.Place), attribute.String("nod.result", string(a.Result)))
	}
}

func (o *Observer) delivered(a bridge.Activity, took time.Duration) {
	switch {
	case a.Err == nil:
		o.delivery.WithLabelValues(a.Name, a.Place).Observe(took.Seconds())
		if a.Name == string(life.JobPost) {
			o.visible.WithLabelValues(a.Place).Observe(time.Since(a.ID.Time()).Seconds())
		}
	case errors.Is(a.Err, bridge.ErrPaced):
		o.paced.WithLabelValues(a.Name, a.Place).Inc()
	default:
		o.failures.WithLabelValues(a.Name, a.Place, string(bridge.ErrorCode(a.Err))).Inc()
	}
}
