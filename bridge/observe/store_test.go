package observe_test

import (
	"context"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/observe"
	"github.com/nodbridge/nod/broker"
)

// fakeStore is a store that returns the record and error that a test sets.
type fakeStore struct {
	core.Port
	rec    bridge.Record
	won    bool
	ballot core.BallotResult
	over   []core.Expiry
	err    error
}

func (s *fakeStore) Open(context.Context, life.Opening, ...broker.Version) (bridge.Record, bool, error) {
	return s.rec, s.won, s.err
}

func (s *fakeStore) Resolve(context.Context, life.Resolution, ...core.Also) (bridge.Record, bool, error) {
	return s.rec, s.won, s.err
}

func (s *fakeStore) Vote(context.Context, life.Ballot, ...core.Also) (bridge.Record, core.BallotResult, error) {
	return s.rec, s.ballot, s.err
}

func (s *fakeStore) Mark(context.Context, bridge.ID, life.Mark) (bridge.Record, error) {
	return s.rec, s.err
}

func (s *fakeStore) Delivered(context.Context, bridge.Record) error { return s.err }

func (s *fakeStore) Expire(context.Context, int) ([]core.Expiry, bool, error) {
	return s.over, true, s.err
}

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
	opened   = `nod_opened_total{kind="approval"}`
	approved = `nod_outcomes_total{kind="approval",state="approved"}`
	answers  = `nod_response_seconds_count{kind="approval",platform="chat"}`
)

// TestOpened checks that a request is counted once, together with its outcome
// if a policy decided it immediately, and that an existing request is not
// counted again.
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
	check(t, o, map[string]float64{opened: 1, approved: 0})
	open(bridge.StateApproved, true, nil)
	check(t, o, map[string]float64{opened: 2, approved: 1, answers: -1})
}

// TestOutcomes checks that an outcome is counted by the daemon whose call
// or vote won, with the response time.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	o, s, fake := newStore(t)
	fake.rec = approval(bridge.StateApproved, 45*time.Second)
	for _, won := range []bool{true, false} {
		fake.won = won
		if _, got, err := s.Resolve(t.Context(), life.Resolution{}); err != nil || got != won {
			t.Error(got, err)
		}
	}
	check(t, o, map[string]float64{approved: 1, answers: 1,
		`nod_response_seconds_bucket{kind="approval",platform="chat",le="30"}`: 0,
		`nod_response_seconds_bucket{kind="approval",platform="chat",le="60"}`: 1})
	for _, result := range []core.BallotResult{core.BallotCounted, core.BallotDecided} {
		fake.ballot = result
		if _, got, err := s.Vote(t.Context(), life.Ballot{}); err != nil || got != result {
			t.Error(got, err)
		}
	}
	check(t, o, map[string]float64{approved: 2, answers: 2})
	fake.err = bridge.Errorf(bridge.CodeUnavailable, "down")
	if _, _, err := s.Resolve(t.Context(), life.Resolution{}); err == nil {
		t.Error("no error")
	}
	check(t, o, map[string]float64{approved: 2})
}

// TestMarks checks that a request that no destination could show counts as
// undeliverable, and that the delivery to the agent is measured.
func TestMarks(t *testing.T) {
	t.Parallel()
	o, s, fake := newStore(t)
	const undeliverable = `nod_outcomes_total{kind="approval",state="undeliverable"}`
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
	mark(bridge.StatePending, life.Failed{})
	deliver(bridge.StatePending)
	check(t, o, map[string]float64{undeliverable: 0, handover: -1})
	mark(bridge.StateUndeliverable, life.Failed{})
	mark(bridge.StateUndeliverable, life.Refresh{})
	mark(bridge.StateUndeliverable, life.Deleted{})
	deliver(bridge.StateApproved)
	check(t, o, map[string]float64{undeliverable: 2, handover: 1})
	fake.err = bridge.Errorf(bridge.CodeUnavailable, "down")
	if err := s.Delivered(t.Context(), fake.rec); err == nil {
		t.Error("no error")
	}
	check(t, o, map[string]float64{handover: 1})
}

// TestJobs checks the counters of timeouts, retries and dead letters. A job
// that is rate limited is not a retry.
func TestJobs(t *testing.T) {
	t.Parallel()
	o, s, fake := newStore(t)
	fake.over = []core.Expiry{{ID: "a", State: bridge.StateExpired}, {ID: "b", State: bridge.StateDenied}, {ID: "c", State: bridge.StatePending}}
	if over, more, err := s.Expire(t.Context(), 10); err != nil || len(over) != 3 || !more {
		t.Error(over, more, err)
	}
	job := core.Job{Kind: life.JobPost}
	for _, reason := range []string{"", "down"} {
		if err := s.Retry(t.Context(), job, time.Second, reason); err != nil {
			t.Error(err)
		}
	}
	if err := s.Bury(t.Context(), job, "gone"); err != nil {
		t.Error(err)
	}
	check(t, o, map[string]float64{`nod_timeouts_total{state="expired"}`: 1, `nod_timeouts_total{state="denied"}`: 1,
		`nod_timeouts_total{state="deferred"}`: 1, `nod_timeouts_total{state="answered"}`: 0, `nod_retries_total{operation="post"}`: 1, `nod_dead_letters_total{operation="post"}`: 1})
}
