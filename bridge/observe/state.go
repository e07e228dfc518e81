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

// stateTimeout limits how long a scrape waits for Redis.
const stateTimeout = 3 * time.Second

// ageBounds are the age buckets of pending requests.
var ageBounds = []struct {
	label string
	upTo  time.Duration
}{{"1m", time.Minute}, {"5m", 5 * time.Minute}, {"15m", 15 * time.Minute}, {"1h", time.Hour}, {"6h", 6 * time.Hour}, {"1d", 24 * time.Hour}, {"older", 1<<63 - 1}}

// states are the values of the label state of nod_platform_state.
var states = []bridge.HealthState{bridge.HealthStarting, bridge.HealthUp, bridge.HealthDegraded, bridge.HealthStandby, bridge.HealthDown}

type stateCollector struct {
	ready  func(context.Context) error
	state  func(context.Context) (bridge.Stats, error)
	health func() map[string]bridge.Health
}

var (
	descUp       = prometheus.NewDesc("nod_redis_up", "Whether Redis stores requests and decisions for this daemon.", nil, nil)
	descPending  = prometheus.NewDesc("nod_pending", "Pending requests of the deployment by age, the same on every daemon.", []string{"age"}, nil)
	descOverdue  = prometheus.NewDesc("nod_overdue_seconds", "Time since the earliest deadline of a request that is still pending.", nil, nil)
	descJobs     = prometheus.NewDesc("nod_outbox_jobs", "Outbox jobs of the deployment: cards, reminders and webhooks.", nil, nil)
	descLag      = prometheus.NewDesc("nod_outbox_lag_seconds", "Age of the oldest due job in the outbox.", nil, nil)
	descDead     = prometheus.NewDesc("nod_dead_letters", "Dead letters that are kept.", nil, nil)
	descWaiting  = prometheus.NewDesc("nod_waiting", "Callers waiting at this daemon.", nil, nil)
	descPlatform = prometheus.NewDesc("nod_platform_state", "State of this daemon's connection to a platform: 1 for the current state.", []string{"platform", "state"}, nil)
	descSince    = prometheus.NewDesc("nod_platform_state_since_timestamp_seconds", "Start of the current state of the connection to a platform, as Unix time.", []string{"platform"}, nil)
)

// Watch adds metrics for pending work, for the health of the platforms, and for
// the health of Redis. It uses ready for Redis, because Redis may respond
// without storing data.
func (o *Observer) Watch(ready func(context.Context) error, state func(context.Context) (bridge.Stats, error), health func() map[string]bridge.Health) {
	o.registry.MustRegister(stateCollector{ready, state, health})
}

// WatchProof adds metrics that show possible tampering in Redis: whether the
// audit log is no longer sealed, and whether the keys are stored in a place
// where they protect nothing.
func (o *Observer) WatchProof(log, keys func() bridge.Health) {
	gauge := func(name, help string, of func() bridge.Health) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if of().State == bridge.HealthUp {
				return 0
			}
			return 1
		})
	}
	o.registry.MustRegister(
		gauge("nod_audit_refused", "Whether the audit log is no longer sealed: an entry was forged or changed, or Redis refused the seals for a minute.", log),
		gauge("nod_keys_unprotected", "Whether the signing keys are stored in Redis or differ between daemons.", keys),
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
	up := 1.0
	if c.ready(ctx) != nil { // Redis can be read, but stores nothing
		up = 0
	}
	gauge(descUp, up)
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

// Hook returns a hook that measures the round trips of a Redis client.
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
	var refused redis.Error // an error reply is a response
	if err != nil && !errors.As(err, &refused) && !errors.Is(err, context.Canceled) {
		h.o.redisFail.Inc()
		return
	}
	h.o.redis.Observe(time.Since(began).Seconds())
}
