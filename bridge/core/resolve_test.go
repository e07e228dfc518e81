package core_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestRaceHasOneWinner checks that concurrent decisions have exactly one winner, and
// are in the journal once.
func TestRaceHasOneWinner(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		nodes := []*stored.Store{daemon("a"), daemon("b"), daemon("c")}
		for range 10 {
			r := open(t, nodes[0], nil)
			var wins atomic.Int32
			var winner atomic.Value
			var wg sync.WaitGroup
			for n := range 30 {
				wg.Go(func() {
					got, won, err := nodes[n%3].Resolve(t.Context(), yes(r.Interaction.ID, fmt.Sprint("U", n)))
					if err != nil {
						t.Error(err)
						return
					}
					if won {
						wins.Add(1)
					}
					if prev := winner.Swap(got.Response.Actor.User); prev != nil && prev != got.Response.Actor.User {
						t.Errorf("two winners were seen: %v and %v", prev, got.Response.Actor.User)
					}
				})
			}
			wg.Wait()
			if wins.Load() != 1 {
				t.Fatalf("%d winners", wins.Load())
			}
		}
		if got := ends(t, nodes[0]); len(got) != 10 {
			t.Errorf("%d have ended", len(got))
		}
	})
}

// ends returns how often each interaction ended, by the events. The test fails for
// one that ended more than once.
func ends(t *testing.T, s *stored.Store) map[bridge.ID]int {
	t.Helper()
	out, cursor := map[bridge.ID]int{}, ""
	for {
		events, next, err := s.Events(t.Context(), cursor, bridge.EventFilter{})
		noError(t, err)
		for _, e := range events {
			if e.Type == bridge.EventResponse {
				if out[e.InteractionID]++; out[e.InteractionID] > 1 {
					t.Errorf("%s ended again", e.InteractionID)
				}
			}
		}
		if cursor = next; len(events) == 0 {
			return out
		}
	}
}

// TestOpenAwaitSettle checks that callers at several daemons get the one response.
func TestOpenAwaitSettle(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		nodes := []*stored.Store{daemon("n1"), daemon("n2")}
		r := open(t, nodes[0], nil)
		results := make(chan *bridge.Record, 6)
		for n := range 6 {
			go func() {
				got, err := core.Await(t.Context(), nodes[n%2], r.Interaction.ID)
				if err != nil {
					t.Error(err)
				}
				results <- got
			}()
		}
		for _, s := range nodes {
			await.Until(t, "the callers wait", func() bool { return must[bridge.Stats](t)(s.Stats(t.Context())).Waiting == 3 })
		}
		got, won, err := nodes[1].Resolve(t.Context(), yes(r.Interaction.ID, "U1"))
		if err != nil || !won || got.State != bridge.StateApproved {
			t.Fatalf("settle: %v %v %v", got.State, won, err)
		}
		for range 6 {
			if w := await.Receive(t, "a response", results); w.State != bridge.StateApproved || w.Response.Actor.User != "U1" {
				t.Errorf("a waiter saw %+v", w)
			}
		}
		again, won, err := nodes[0].Resolve(t.Context(), yes(r.Interaction.ID, "U1"))
		if err != nil || !won {
			t.Errorf("the winner's repeat: won %v, %v", won, err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Errorf("the repeat changed the record: %s", d)
		}
		if late, won, _ := nodes[0].Resolve(t.Context(), yes(r.Interaction.ID, "U2")); won || late.Response.Actor.User != "U1" {
			t.Errorf("a second answer won: %+v", late.Response)
		}
	})
}

// TestUndeliverable checks that a request is undeliverable when its last destination
// fails, unless it will be shown elsewhere.
func TestUndeliverable(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		elsewhere, id := open(t, s, nil).Interaction.ID, open(t, s, nil).Interaction.ID
		for n := range 2 {
			if got := mark(t, s, elsewhere, life.Failed{Destination: n, Reason: "gone", Later: true}); got.State != bridge.StatePending {
				t.Fatalf("with a later destination it is %s", got.State)
			}
		}
		if got := mark(t, s, id, life.Failed{Destination: 0, Reason: "gone"}); got.State != bridge.StatePending {
			t.Fatalf("with another destination it is %s", got.State)
		}
		got := mark(t, s, id, life.Failed{Destination: 1, Reason: "token revoked"})
		if got.State != bridge.StateUndeliverable || got.Response.Reason != "token revoked" {
			t.Fatalf("%s %+v", got.State, got.Response)
		}
		if _, err := core.Await(t.Context(), s, id); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadlineBeatsLateAnswer checks that a response after the deadline expires the
// request, at the deadline.
func TestDeadlineBeatsLateAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		early := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(time.Hour) }).Interaction.ID
		id := open(t, s, nil).Interaction.ID // expires after a minute
		if over, _, err := s.Expire(t.Context(), 10); err != nil || len(over) != 0 {
			t.Errorf("%v expired before their time, %v", over, err)
		}
		pass(t, 2*time.Minute)
		got, won, err := s.Resolve(t.Context(), yes(id, "U1"))
		if err != nil || won || got.State != bridge.StateExpired || !got.Response.At.Equal(got.Interaction.Deadline) {
			t.Errorf("an answer after the deadline: won %v, state %s at %v, %v", won, got.State, got.Response.At, err)
		}
		if over, more, err := s.Expire(t.Context(), 10); len(over) != 0 || more || err != nil {
			t.Errorf("expired again: %v, %v, %v", over, more, err)
		}
		if got := must[bridge.Record](t)(s.Load(t.Context(), early)); got.State != bridge.StatePending {
			t.Errorf("one that is not due is %s", got.State)
		}
	})
}

// TestAtTheDeadline checks that a deadline takes effect whether the sweep or a late
// answer notices it first.
func TestAtTheDeadline(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n1")
		soon := func(i *bridge.Interaction) { i.Session, i.Deadline = "s", i.Created.Add(50*time.Millisecond) }
		queued, silent := opening(t, "", soon), opening(t, "", soon)
		queued.Interaction.OnTimeout, queued.Interaction.Hold = bridge.OnTimeoutPending, bridge.Duration(time.Hour)
		for _, o := range []life.Opening{queued, silent} {
			if _, _, err := s.Open(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		pass(t, 50*time.Millisecond)
		got, won, err := s.Resolve(t.Context(), yes(queued.Interaction.ID, "U1")) // no sweep has reached it
		if err != nil || !won || got.Queued.IsZero() || got.State != bridge.StateApproved {
			t.Errorf("queued: %s, won %v, queued %s, %v", got.State, won, got.Queued, err)
		}
		over, _, err := s.Expire(t.Context(), 10)
		if err != nil || !slices.Equal(over, []core.Expiry{{ID: silent.Interaction.ID, State: bridge.StateExpired}}) {
			t.Fatalf("swept: %v, %v", over, err)
		}
	})
}

// TestExpiryOnce checks that several daemons expire each request once, while people
// decide some of them at the same moment.
func TestExpiryOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		nodes := []*stored.Store{daemon("a"), daemon("b")}
		const n = 100
		for range n {
			open(t, nodes[0], func(i *bridge.Interaction) { i.Deadline = i.Created.Add(20 * time.Millisecond) })
		}
		var mu sync.Mutex
		done := map[bridge.ID]int{}
		var wg sync.WaitGroup
		for _, s := range nodes {
			wg.Go(func() {
				for {
					over, _, err := s.Expire(t.Context(), 10)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, e := range over {
						if done[e.ID]++; e.State != bridge.StateExpired {
							t.Errorf("%s is %s", e.ID, e.State)
						}
					}
					all := len(done) == n
					mu.Unlock()
					if all || !bridge.Pause(t.Context(), time.Millisecond) {
						return
					}
				}
			})
		}
		wg.Wait()
		for id, times := range ends(t, nodes[0]) {
			if done[id] != times {
				t.Errorf("%s ended %d times, reported %d times", id, times, done[id])
			}
		}
	})
}

// newer makes the life of an interaction one that a newer nod has written, and returns
// it.
func newer(t *testing.T, s *stored.Store, id bridge.ID) broker.Doc {
	t.Helper()
	get := func() broker.Doc { return must[[]broker.Doc](t)(s.DB.Get(t.Context(), life.Key(id)))[0] }
	d := get()
	d.Format = 9
	if _, err := s.DB.Do(t.Context(), broker.Change{Put: []broker.Doc{d}}); err != nil {
		t.Fatal(err)
	}
	return get()
}

// TestNewerDocuments checks that a request of a newer nod is refused and keeps
// its deadline, and that others expire although many of those are due before.
func TestNewerDocuments(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		var last broker.Doc
		var id bridge.ID
		for range 200 {
			id = open(t, s, nil).Interaction.ID
			last = newer(t, s, id)
		}
		behind := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(2 * time.Minute) }).Interaction.ID
		if _, err := s.Load(t.Context(), id); bridge.PublicError(err).Hint == "" {
			t.Errorf("it is read: %v", err)
		}
		if _, won, err := s.Resolve(t.Context(), yes(id, "U1")); err == nil || won {
			t.Errorf("it is settled: %v, %v", won, err)
		}
		pass(t, time.Hour)
		if over, _, err := s.Expire(t.Context(), 100); err != nil || len(over) != 1 || over[0].ID != behind {
			t.Errorf("expired: %v, %v", over, err)
		}
		if d := cmp.Diff(last, must[[]broker.Doc](t)(s.DB.Get(t.Context(), life.Key(id)))[0]); d != "" {
			t.Errorf("it was changed: %s", d)
		}
		if n := must[int](t)(s.DB.Count(t.Context(), life.Deadlines, time.Time{})); n != 200 {
			t.Errorf("%d deadlines are left", n)
		}
	})
}

// TestWakesAfterClose checks that callers of a daemon that has stopped do not wait.
func TestWakesAfterClose(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		o := opening(t, "", nil)
		o.Awaited = true
		if _, _, err := s.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		other := open(t, s, nil).Interaction.ID
		noError(t, s.Close())
		for _, id := range []bridge.ID{o.Interaction.ID, other} {
			done := make(chan error, 1)
			go func() { _, err := core.Await(t.Context(), s, id); done <- err }()
			synctest.Wait()
			select {
			case err := <-done:
				if bridge.ErrorCode(err) != bridge.CodeUnavailable {
					t.Error(err)
				}
			default:
				t.Error("a caller waits at a daemon that has stopped")
			}
		}
	})
}

// TestSending checks that an answer to a named caller is stored as sent, and that it
// goes to no other caller.
func TestSending(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("a")
		id := open(t, s, nil).Interaction.ID
		approve(t, s, id)
		r := must[bridge.Record](t)(s.Load(t.Context(), id))
		noError(t, s.Sending(t.Context(), r, "caller"))
		if r = must[bridge.Record](t)(s.Load(t.Context(), id)); r.Sent.IsZero() {
			t.Error("the answer is not stored as sent")
		}
		if err := s.Sending(t.Context(), r, "another"); !errors.As(err, new(*bridge.RepeatedError)) {
			t.Errorf("for another caller: %v", err)
		}
	})
}
