package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// store wraps a core.Port and observes its calls.
type store struct {
	core.Port
	o *Observer
}

// Store wraps s so that its calls are observed. Outcomes are counted by [Observer.Ended].
func (o *Observer) Store(s core.Port) core.Port { return store{s, o} }

// Open implements core.Interactions.
func (s store) Open(ctx context.Context, opening life.Opening, on ...broker.Version) (bridge.Record, bool, error) {
	began := time.Now()
	r, created, err := s.Port.Open(ctx, opening, on...)
	if err == nil && created {
		s.o.opened.WithLabelValues(string(r.Interaction.Kind)).Inc()
	}
	s.span("open", opening.Interaction, began, err)
	return r, created, err
}

// Resolve implements core.Interactions.
func (s store) Resolve(ctx context.Context, x life.Resolution, also ...core.Also) (bridge.Record, bool, error) {
	began := time.Now()
	r, won, err := s.Port.Resolve(ctx, x, also...)
	s.span("resolve", r.Interaction, began, err)
	return r, won, err
}

// Vote implements core.Interactions.
func (s store) Vote(ctx context.Context, b life.Ballot, also ...core.Also) (bridge.Record, core.BallotResult, error) {
	began := time.Now()
	r, result, err := s.Port.Vote(ctx, b, also...)
	s.span("vote", r.Interaction, began, err)
	return r, result, err
}

// Mark implements core.Interactions.
func (s store) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	r, err := s.Port.Mark(ctx, id, m)
	if _, acknowledged := m.(life.Acknowledged); err == nil && acknowledged {
		s.delivered(r)
	}
	return r, err
}

// Delivered implements core.Interactions.
func (s store) Delivered(ctx context.Context, r bridge.Record) error {
	err := s.Port.Delivered(ctx, r)
	if err == nil {
		s.delivered(r)
	}
	return err
}

// delivered measures the time between a response and its delivery.
func (s store) delivered(r bridge.Record) {
	if r.Response != nil {
		s.o.handover.WithLabelValues(string(r.Interaction.Kind)).Observe(time.Since(r.Response.At).Seconds())
		s.span("deliver", r.Interaction, r.Response.At, nil)
	}
}

// deferred is the label of a timeout after which the request waits for a late
// answer.
const deferred = "deferred"

func timeoutState(s bridge.State) string {
	if s == bridge.StatePending {
		return deferred
	}
	return string(s)
}

// Retry implements core.Outbox.
func (s store) Retry(ctx context.Context, j core.Job, d time.Duration, reason string) error {
	if reason != "" {
		s.o.retries.WithLabelValues(string(j.Kind)).Inc()
	}
	return s.Port.Retry(ctx, j, d, reason)
}

// Bury implements core.Outbox.
func (s store) Bury(ctx context.Context, j core.Job, reason string) error {
	s.o.buried.WithLabelValues(string(j.Kind)).Inc()
	return s.Port.Bury(ctx, j, reason)
}

// Ended counts the outcome or the timeout of a request. Only the daemon that caused it
// calls Ended, so that the counts of all daemons can be added up.
func (o *Observer) Ended(r bridge.Record, timeout bool) {
	i := r.Interaction
	switch {
	case timeout:
		o.timeouts.WithLabelValues(timeoutState(r.State)).Inc()
	case r.State.Final():
		o.outcomes.WithLabelValues(string(i.Kind), string(r.State)).Inc()
		if r.Response != nil && r.Response.Actor != nil {
			o.response.WithLabelValues(string(i.Kind), r.Response.Actor.Platform).Observe(r.Response.At.Sub(i.Created).Seconds())
		}
	}
}

func (s store) span(name string, i bridge.Interaction, began time.Time, err error) {
	if !s.o.tracer.on {
		return
	}
	s.o.tracer.span("store "+name, i.Trace, i.ID, began, err, attribute.String("nod.kind", string(i.Kind)))
}
