package observe_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/observe"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// fakeStore is a store that returns the record and error that a test sets.
type fakeStore struct {
	core.Port
	rec bridge.Record
	won bool
	err error
}

func (s *fakeStore) Open(context.Context, life.Opening, ...broker.Version) (bridge.Record, bool, error) {
	return s.rec, s.won, s.err
}

func (s *fakeStore) Resolve(context.Context, life.Resolution, ...core.Also) (bridge.Record, bool, error) {
	return s.rec, s.won, s.err
}

func (s *fakeStore) Mark(context.Context, bridge.ID, life.Mark) (bridge.Record, error) {
	return s.rec, s.err
}

func (s *fakeStore) Delivered(context.Context, bridge.Record) error { return s.err }

func (s *fakeStore) Retry(context.Context, core.Job, time.Duration, string) error { return s.err }

func (s *fakeStore) Bury(context.Context, core.Job, string) error { return s.err }

func newStore(t *testing.T) (*observe.Observer, core.Port, *fakeStore) {
	t.Helper()
	o, fake := newObserver(t), &fakeStore{}
	return o, o.Store(fake), fake
}

// approval returns the record of an approval that ana answered in chat after
// some time.
func approval(state bridge.State, after time.Duration) bridge.Record {
	r := bridge.Record{State: state}
	r.Interaction.Kind, r.Interaction.Created = bridge.KindApproval, time.Now().Add(-after)
	if state != bridge.StatePending {
		r.Response = &bridge.Response{State: state, At: time.Now(), Actor: &bridge.Actor{Platform: "chat", User: "U1"}}
	}
	return r
}

const (
	opened  = `nod_opened_total{kind="approval"}`
	answers = `nod_response_seconds_count{kind="approval",platform="slack"}`
)

// TestOpened checks that a request is counted once, and that an existing request is
// not counted again.
func TestOpened(t *testing.T) {
	t.Parallel()
	o, s, fake := newStore(t)
	open := func(state bridge.State, created bool, err error) {
		fake.rec, fake.won, fake.err = approval(state, 0), created, err
		fake.rec.Response = nil
		_, got, gerr := s.Open(t.Context(), life.Opening{})
		if got != created || (gerr != nil) != (err != nil) {
			t.Errorf("Open returns %t, %v", got, gerr)
		}
	}
	open(bridge.StatePending, true, nil)
	open(bridge.StatePending, false, nil)
	open(bridge.StatePending, true, bridge.Errorf(bridge.CodeUnavailable, "down"))
	check(t, o, map[string]float64{opened: 1})
}

// TestOutcomes checks that each outcome is counted once, with the response time of a
// person, whatever closed the request, and that timeouts are counted apart.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, o, seals := t.Context(), newObserver(t), broker.NewSeals()
		s := stored.On(t, memory.New(seals), seals, core.Options{Ended: o.Ended})
		open := func() bridge.ID { return stored.Open(t, s, nil).Interaction.ID }
		answered, left, shown, replaced, deferred := open(), open(), open(), open(), open()
		open() // expires
		ruled := stored.Opening(t, "", nil)
		ruled.Response = &bridge.Response{State: bridge.StateDenied, Annotations: map[string]bridge.Annotation{}}
		stored.NoError(t, second(s.Open(ctx, ruled)))
		stored.Pass(t, 45*time.Second)
		for range 2 {
			stored.NoError(t, second(s.Resolve(ctx, stored.Yes(answered, "U1"))))
			stored.Must[bridge.Record](t)(s.Abandon(ctx, left, bridge.Anyone, false, bridge.Response{State: bridge.StateCancelled}))
			stored.Must[bridge.Record](t)(s.Mark(ctx, shown, life.Failed{Reason: "gone"}))
			stored.Must[bridge.Record](t)(s.Mark(ctx, shown, life.Failed{Destination: 1, Reason: "gone"}))
		}
		stored.Must[bridge.Record](t)(s.Mark(ctx, deferred, life.Deferred{Hold: 2 * bridge.MaxTimeout}))
		next := stored.Opening(t, "", func(i *bridge.Interaction) { i.Previous, i.OnTimeout = replaced, bridge.OnTimeoutDeny })
		next.Superseded = bridge.Response{State: bridge.StateSuperseded}
		stored.NoError(t, second(s.Open(ctx, next)))
		stored.Pass(t, time.Minute)
		stored.NoError(t, second(s.Expire(ctx, 10)))
		of := func(s string) string { return `nod_outcomes_total{kind="approval",state="` + s + `"}` }
		check(t, o, map[string]float64{
			of("approved"): 1, of("cancelled"): 1, of("undeliverable"): 1, of("superseded"): 1, of("expired"): 0, of("denied"): 1, answers: 1,
			`nod_response_seconds_bucket{kind="approval",platform="slack",le="30"}`: 0,
			`nod_response_seconds_bucket{kind="approval",platform="slack",le="60"}`: 1,
			`nod_timeouts_total{state="expired"}`:                                   1, `nod_timeouts_total{state="denied"}`: 1, `nod_timeouts_total{state="deferred"}`: 0,
		})
	})
}

// second returns the error of a call with two other results.
func second[A, B any](_ A, _ B, err error) error { return err }

// TestMarks checks that the delivery to the agent is measured.
func TestMarks(t *testing.T) {
	t.Parallel()
	o, s, fake := newStore(t)
	const handover = `nod_handover_seconds_count{kind="approval"}`
	mark := func(state bridge.State, m life.Mark) {
		fake.rec = approval(state, 0)
		if _, err := s.Mark(t.Context(), "", m); err != nil {
			t.Error(err)
		}
	}
	deliver := func(state bridge.State) {
		if err := s.Delivered(t.Context(), approval(state, 0)); err != nil {
			t.Error(err)
		}
	}
	deliver(bridge.StatePending)
	check(t, o, map[string]float64{handover: -1})
	mark(bridge.StateApproved, life.Refresh{})
	deliver(bridge.StateApproved)
	check(t, o, map[string]float64{handover: 1})
	fake.err = bridge.Errorf(bridge.CodeUnavailable, "down")
	if err := s.Delivered(t.Context(), fake.rec); err == nil {
		t.Error("no error")
	}
	check(t, o, map[string]float64{handover: 1})
}

// TestJobs checks the counters of retries and dead letters. A job
// that is rate limited is not a retry.
func TestJobs(t *testing.T) {
	t.Parallel()
	o, s, _ := newStore(t)
	job := core.Job{Kind: life.JobPost}
	for _, reason := range []string{"", "down"} {
		if err := s.Retry(t.Context(), job, time.Second, reason); err != nil {
			t.Error(err)
		}
	}
	if err := s.Bury(t.Context(), job, "gone"); err != nil {
		t.Error(err)
	}
	check(t, o, map[string]float64{`nod_retries_total{operation="post"}`: 1, `nod_dead_letters_total{operation="post"}`: 1})
}
