package observe

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// stateTimeout bounds how long a scrape waits for Redis.
const stateTimeout = 3 * time.Second

// ageBounds are the buckets of what is pending, by age.
var ageBounds = []struct {
	label string
	upTo  time.Duration
}{{"1m", time.Minute}, {"5m", 5 * time.Minute}, {"15m", 15 * time.Minute}, {"1h", time.Hour}, {"6h", 6 * time.Hour}, {"1d", 24 * time.Hour}, {"older", 1<<63 - 1}}

// states are the values of the label state of nod_platform_state.
var states = []bridge.HealthState{bridge.HealthStarting, bridge.HealthUp, bridge.HealthDegraded, bridge.HealthStandby, bridge.HealthDown}

type stateCollector struct {
	state  func(context.Context) (bridge.Stats, error)
	health func() map[string]bridge.Health
}

var (
	descUp       = prometheus.NewDesc("nod_redis_up", "Whether Redis answers this daemon.", nil, nil)
	descPending  = prometheus.NewDesc("nod_pending", "Requests of the deployment that wait for an answer, by age; every daemon reports the same.", []string{"age"}, nil)
	descOverdue  = prometheus.NewDesc("nod_overdue_seconds", "How long the oldest pending request is past its deadline.", nil, nil)
	descJobs     = prometheus.NewDesc("nod_outbox_jobs", "Jobs of the deployment: messages, reminders, webhooks.", nil, nil)
	descLag      = prometheus.NewDesc("nod_outbox_lag_seconds", "How long the oldest due job has not been worked on.", nil, nil)
	descDead     = prometheus.NewDesc("nod_dead_letters", "Jobs given up that are kept.", nil, nil)
	descWaiting  = prometheus.NewDesc("nod_waiting", "Callers that are blocked at this daemon.", nil, nil)
	descPlatform = prometheus.NewDesc("nod_platform_state", "1 for the state in which this daemon's connection to a platform is.", []string{"platform", "state"}, nil)
	descSince    = prometheus.NewDesc("nod_platform_state_since_seconds", "When that state began, as Unix time.", []string{"platform"}, nil)
)

// Watch has how much there is to do, and the platforms' health among the metrics.
func (o *Observer) Watch(state func(context.Context) (bridge.Stats, error), health func() map[string]bridge.Health) {
	o.registry.MustRegister(stateCollector{state, health})
}

// WatchProof adds metrics for what a writer of Redis could do: how many
// partitions of the audit log are no longer sealed, and whether the keys are
// kept where they protect nothing.
func (o *Observer) WatchProof(refused func() int64, keys func() bridge.Health) {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	o.registry.MustRegister(
		gauge("nod_audit_refused", "Partitions of the audit log that are not sealed, as an entry in them was forged or changed.", func() float64 { return float64(refused()) }),
		gauge("nod_keys_unprotected", "1 if the keys that prove decisions are kept in Redis, or differ between daemons.", func() float64 {
			if keys().State == bridge.HealthUp {
				return 0
			}
			return 1
		}),
	)
}

// Describe implements prometheus.Collector.
func (c stateCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c stateCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for name, h := range c.health() {
		for _, s := range states {
			v := 0.0
			if h.State == s {
				v = 1
			}
			gauge(descPlatform, v, name, string(s))
		}
		if !h.Since.IsZero() {
			gauge(descSince, float64(h.Since.Unix()), name)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	s, err := c.state(ctx)
	if err != nil {
		gauge(descUp, 0)
		return
	}
	gauge(descUp, 1)
	from := time.Duration(-1)
	for _, b := range ageBounds {
		n := 0.0
		for _, age := range s.Ages {
			if age > from && age <= b.upTo {
				n++
			}
		}
		gauge(descPending, n*s.Weight, b.label)
		from = b.upTo
	}
	gauge(descOverdue, s.Overdue.Seconds())
	gauge(descJobs, float64(s.Jobs))
	gauge(descLag, s.Lag.Seconds())
	gauge(descDead, float64(s.Dead))
	gauge(descWaiting, float64(s.Waiting))
}

// Hook observes the round trips of a Redis client.
func (o *Observer) Hook() redis.Hook { return redisHook{o} }

type redisHook struct{ o *Observer }

// DialHook implements redis.Hook.
func (h redisHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements redis.Hook.
func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		began := time.Now()
		err := next(ctx, cmd)
		h.done(began, err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		began := time.Now()
		err := next(ctx, cmds)
		h.done(began, err)
		return err
	}
}

func (h redisHook) done(began time.Time, err error) {
	var refused redis.Error // an answer anyway
	if err != nil && !errors.As(err, &refused) && !errors.Is(err, context.Canceled) {
		h.o.redisFail.Inc()
		return
	}
	h.o.redis.Observe(time.Since(began).Seconds())
}
