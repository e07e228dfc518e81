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

// store wraps a core.Port and counts its transitions. Each transition is
// counted by the daemon that made it, so that the counts of all daemons can be
// added up.
type store struct {
	core.Port
	o *Observer
}

// Store wraps s so that its transitions are counted.
func (o *Observer) Store(s core.Port) core.Port { return store{s, o} }

// Open implements core.Interactions.
func (s store) Open(ctx context.Context, opening life.Opening, on ...broker.Version) (bridge.Record, bool, error) {
	began := time.Now()
	r, created, err := s.Port.Open(ctx, opening, on...)
	if err == nil && created {
		s.o.opened.WithLabelValues(string(r.Interaction.Kind)).Inc()
		s.ended(r, r.State.Final())
	}
	s.span("open", opening.Interaction, began, err)
	return r, created, err
}

// Resolve implements core.Interactions.
func (s store) Resolve(ctx context.Context, x life.Resolution, also ...core.Also) (bridge.Record, bool, error) {
	began := time.Now()
	r, won, err := s.Port.Resolve(ctx, x, also...)
	s.ended(r, err == nil && won)
	s.span("resolve", r.Interaction, began, err)
	return r, won, err
}

// Vote implements core.Interactions.
func (s store) Vote(ctx context.Context, b life.Ballot, also ...core.Also) (bridge.Record, core.BallotResult, error) {
	began := time.Now()
	r, result, err := s.Port.Vote(ctx, b, also...)
	s.ended(r, err == nil && result == core.BallotDecided)
	s.span("vote", r.Interaction, began, err)
	return r, result, err
}

// Mark implements core.Interactions.
func (s store) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	r, err := s.Port.Mark(ctx, id, m)
	if err != nil {
		return r, err
	}
	switch m.(type) {
	case life.Failed, life.Deleted:
		s.ended(r, r.State == bridge.StateUndeliverable)
	case life.Acknowledged:
		s.delivered(r)
	}
	return r, nil
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

// Expire implements core.Interactions.
func (s store) Expire(ctx context.Context, n int) ([]core.Expiry, bool, error) {
	over, more, err := s.Port.Expire(ctx, n)
	for _, e := range over {
		s.o.timeouts.WithLabelValues(timeoutState(e.State)).Inc()
	}
	return over, more, err
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

// ended counts the outcome of a request.
func (s store) ended(r bridge.Record, now bool) {
	if !now {
		return
	}
	i := r.Interaction
	s.o.outcomes.WithLabelValues(string(i.Kind), string(r.State)).Inc()
	if r.Response != nil && r.Response.Actor != nil {
		s.o.response.WithLabelValues(string(i.Kind), r.Response.Actor.Platform).Observe(r.Response.At.Sub(i.Created).Seconds())
	}
}

func (s store) span(name string, i bridge.Interaction, began time.Time, err error) {
	if !s.o.tracer.on {
		return
	}
	s.o.tracer.span("store "+name, i.Trace, i.ID, began, err, attribute.String("nod.kind", string(i.Kind)))
}
