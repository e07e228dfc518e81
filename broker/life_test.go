package broker_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestLife runs tests on one server, on the embedded one, and on one Cluster,
// each under its own key prefix.
func TestLife(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*testing.T, *broker.Broker){"rounds": roundsTakeOverTheMessages, "late": lateAnswersAreKeptInOrder, "keys": staysInSlots}
	run := func(t *testing.T, c redis.UniversalClient) {
		for name, f := range tests {
			t.Run(name, func(t *testing.T) {
				b, err := broker.New(t.Context(), broker.Options{Client: c, Node: "n1", Prefix: name})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { b.Close() })
				f(t, b)
			})
		}
	}
	eachRedis(t, run)
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		run(t, redistest.StartCluster(t).Client(t))
	})
}

func posted(t *testing.T, b *broker.Broker, r bridge.Record, destination int) bridge.Record {
	t.Helper()
	ref := bridge.MessageRef{Channel: "C", Message: fmt.Sprint("m", destination)}
	r, err := b.Mark(t.Context(), r.Interaction.ID, bridge.Mark{Posted: &bridge.Posted{Destination: destination, Ref: ref, Revision: r.Revision}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// again returns the opening of a follow-up to r.
func again(t *testing.T, r bridge.Record) bridge.Opening {
	t.Helper()
	i := r.Interaction
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	i.Previous, i.Round = i.ID, i.Round+1
	if i.Root == "" {
		i.Root = i.ID
	}
	i.ID = id
	return bridge.Opening{
		Interaction: i, Timeout: bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}},
		Superseded: bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}},
	}
}

func roundsTakeOverTheMessages(t *testing.T, b *broker.Broker) {
	first := posted(t, b, open(t, b, nil), 0)
	for _, j := range claimAll(t, b, 2) { // the posts
		if err := b.Finish(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	// Several callers open a follow-up concurrently: one succeeds.
	const n = 8
	var wg sync.WaitGroup
	results := make([]bridge.Record, n)
	errs := make([]error, n)
	for k := range n {
		o := again(t, first)
		wg.Go(func() { results[k], _, errs[k] = b.Open(t.Context(), o) })
	}
	wg.Wait()
	var second bridge.Record
	for k, err := range errs {
		switch {
		case err == nil && second.State == "":
			second = results[k]
		case bridge.ErrorCode(err) != bridge.CodeConflict:
			t.Errorf("asked again: %v", err)
		}
	}
	was, err := b.Load(t.Context(), first.Interaction.ID)
	if err != nil || was.State != bridge.StateSuperseded || was.Next != second.Interaction.ID || was.Head != second.Interaction.ID {
		t.Errorf("the first: %+v, %v", was, err)
	}
	if d := cmp.Diff(first.Messages, second.Messages); d != "" {
		t.Errorf("messages: %s", d)
	}
	// There is one edit job for the message, named after the first round, and
	// one post for the destination that had no message.
	kinds := map[string]bridge.ID{}
	for _, j := range claimAll(t, b, 2) {
		kinds[fmt.Sprint(j.Kind, j.Destination)] = j.Interaction
	}
	other := posted(t, b, open(t, b, nil), 0).Interaction.ID // whose edit is due later than any of these
	claimAll(t, b, 2)
	if _, _, err := b.Settle(t.Context(), yes(other, "U1")); err != nil {
		t.Fatal(err)
	}
	if next := claimAll(t, b, 1); next[0].Interaction != other {
		t.Errorf("there is another job: %+v", next)
	}
	if more, err := b.Claim(t.Context(), 5, time.Minute); err != nil || len(more) > 0 {
		t.Errorf("more jobs: %+v, %v", more, err)
	}
	if d := cmp.Diff(map[string]bridge.ID{"edit0": first.Interaction.ID, "post1": second.Interaction.ID}, kinds); d != "" {
		t.Errorf("jobs: %s", d)
	}
	third, _, err := b.Open(t.Context(), again(t, second))
	if err != nil {
		t.Fatal(err)
	}
	if root, err := b.Load(t.Context(), first.Interaction.ID); err != nil || root.Head != third.Interaction.ID || root.Next != second.Interaction.ID {
		t.Errorf("the first after the third: %+v, %v", root, err)
	}
	gone := again(t, third)
	gone.Interaction.Previous, _ = bridge.NewID()
	if _, _, err := b.Open(t.Context(), gone); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("after nothing: %v", err)
	}
}

func lateAnswersAreKeptInOrder(t *testing.T, b *broker.Broker) {
	session := func(i *bridge.Interaction) { i.Session = "s" }
	var want []bridge.ID
	for range 5 {
		r := open(t, b, session)
		q, err := b.Mark(t.Context(), r.Interaction.ID, bridge.Mark{Queued: time.Hour})
		if err != nil || q.Queued.IsZero() || q.State != bridge.StatePending || !q.Over() {
			t.Fatalf("%+v, %v", q, err)
		}
		if got, err := b.Await(t.Context(), r.Interaction.ID); err != nil || got.State != bridge.StatePending {
			t.Errorf("a waiter saw %s, %v", got.State, err)
		}
		if _, won, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U1")); err != nil || !won {
			t.Fatal(won, err)
		}
		want = append(want, r.Interaction.ID)
	}
	direct := open(t, b, session) // a response with a waiter is not a late answer
	if _, _, err := b.Settle(t.Context(), yes(direct.Interaction.ID, "U1")); err != nil {
		t.Fatal(err)
	}
	read := func() (ids []string, of []bridge.ID) {
		t.Helper()
		items, err := b.Messages(t.Context(), "ci", "s", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range items {
			ids, of = append(ids, m.ID), append(of, m.Record.Interaction.ID)
		}
		return ids, of
	}
	ids, got := read()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("messages: %s", d)
	}
	for _, other := range [][2]string{{"ci", "other"}, {"other", "s"}} {
		if items, err := b.Messages(t.Context(), other[0], other[1], 100); err != nil || len(items) != 0 {
			t.Errorf("%v reads %d, %v", other, len(items), err)
		}
	}
	if acked, err := b.Acknowledge(t.Context(), "ci", "s", ids[2]); err != nil || len(acked) != 3 {
		t.Errorf("acknowledged %v, %v", acked, err)
	}
	if acked, err := b.Acknowledge(t.Context(), "ci", "s", ids[2]); err != nil || len(acked) != 0 {
		t.Errorf("acknowledged again: %v, %v", acked, err)
	}
	if _, left := read(); cmp.Diff(want[3:], left) != "" {
		t.Errorf("left: %v", left)
	}
	if _, err := b.Mark(t.Context(), want[0], bridge.Mark{Queued: time.Hour}); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("queued after its end: %v", err)
	}
}

// TestAtTheDeadline checks that a deadline takes effect whether the sweep or a
// late answer notices it first.
func TestAtTheDeadline(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n1")
		soon := func(i *bridge.Interaction) { i.Session, i.Deadline = "s", i.Created.Add(50*time.Millisecond) }
		queued := opening(t, b, "", soon)
		queued.Timeout.State, queued.Interaction.Hold = bridge.StatePending, bridge.Duration(time.Hour)
		queued.AfterHold = bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}
		silent := opening(t, b, "", soon)
		for _, o := range []bridge.Opening{queued, silent} {
			r, _, err := b.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			after(t, c, r.Interaction.Deadline)
		}
		// An answer arrives for the deferred one, which no sweep has reached.
		got, won, err := b.Settle(t.Context(), yes(queued.Interaction.ID, "U1"))
		if err != nil || !won || got.Queued.IsZero() || got.State != bridge.StateApproved {
			t.Errorf("queued: %s, won %v, queued %s, %v", got.State, won, got.Queued, err)
		}
		over, _, err := b.Expire(t.Context(), 10)
		if err != nil || !slices.Contains(over, bridge.Expiry{ID: silent.Interaction.ID, State: bridge.StateExpired}) {
			t.Fatalf("swept: %v, %v", over, err)
		}
		if got, err := b.Load(t.Context(), silent.Interaction.ID); err != nil || got.State != bridge.StateExpired {
			t.Errorf("the final state is %s, %v", got.State, err)
		}
	})
}

// TestPresence checks the count of the front ends of a session.
func TestPresence(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n1")
		count := func(clients, enabled int) {
			t.Helper()
			x, y, err := b.Present(t.Context(), "s")
			if err != nil || x != clients || y != enabled {
				t.Errorf("present %d, enabled %d, %v; want %d, %d", x, y, err, clients, enabled)
			}
		}
		join := func(client string, enabled bool) {
			t.Helper()
			if err := b.Join(t.Context(), "s", client, enabled); err != nil {
				t.Fatal(err)
			}
		}
		count(0, 0)
		join("a", true)
		join("b", false)
		join("a", true)
		count(2, 1)
		join("a", false)
		join("b", true)
		count(2, 1)
		if err := b.Leave(t.Context(), "s", "b"); err != nil {
			t.Fatal(err)
		}
		count(1, 0)
	})
}

// TestToolApprovals checks how long an approval that a tool remembers applies.
func TestToolApprovals(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n1")
		recall := func(session, key string, want bridge.Scope) {
			t.Helper()
			if got, err := b.Recall(t.Context(), "ci", session, key); err != nil || got != want {
				t.Errorf("%s in %s: %q, %v; want %q", key, session, got, err, want)
			}
		}
		for key, s := range map[string]bridge.Scope{"o": bridge.ScopeOnce, "s": bridge.ScopeSession, "a": bridge.ScopeAlways} {
			if err := b.Remember(t.Context(), "ci", "s1", key, s); err != nil {
				t.Fatal(err)
			}
		}
		recall("s1", "o", bridge.ScopeOnce)
		recall("s1", "o", "")
		recall("s1", "s", bridge.ScopeSession)
		recall("s2", "s", "")
		recall("s2", "a", bridge.ScopeAlways)
		if err := b.ClearSession(t.Context(), "ci", "s1"); err != nil {
			t.Fatal(err)
		}
		recall("s1", "s", "")
		recall("s1", "a", bridge.ScopeAlways)
		// None of this is a grant.
		if all, err := b.Covering(t.Context(), "ci", "s2", []string{"a"}); len(all) > 0 || err != nil {
			t.Errorf("a tool granted itself: %v, %v", all, err)
		}
	})
}
