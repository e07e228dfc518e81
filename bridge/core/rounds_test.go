package core_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// again returns the opening of a follow-up to r.
func again(t *testing.T, r bridge.Record) life.Opening {
	t.Helper()
	i := r.Interaction
	i.Previous, i.Round = i.ID, i.Round+1
	if i.Root == "" {
		i.Root = i.ID
	}
	i.ID = must[bridge.ID](t)(bridge.NewID())
	return life.Opening{
		Interaction: i,
		Superseded:  bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}},
	}
}

// TestRounds checks that one of several follow-ups takes over the messages of the
// round before it.
func TestRounds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		first := posted(t, s, open(t, s, nil), 0)
		work(t, s) // the posts
		const n = 8
		var wg sync.WaitGroup
		results, errs := make([]bridge.Record, n), make([]error, n)
		for k := range n {
			o := again(t, first)
			wg.Go(func() { results[k], _, errs[k] = s.Open(t.Context(), o) })
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
		was := must[bridge.Record](t)(s.Load(t.Context(), first.Interaction.ID))
		if was.State != bridge.StateSuperseded || was.Next != second.Interaction.ID || was.Head != second.Interaction.ID {
			t.Errorf("the first: %+v", was)
		}
		if d := cmp.Diff(first.Messages, second.Messages); d != "" {
			t.Errorf("messages: %s", d)
		}
		// There is one edit job for the message, named after the first round, and one
		// post for the destination that had no message.
		kinds := map[string]bridge.ID{}
		for _, j := range claimAll(t, s, 2) {
			kinds[fmt.Sprint(j.Kind, j.Destination)] = j.Interaction
		}
		if d := cmp.Diff(map[string]bridge.ID{"edit0": first.Interaction.ID, "post1": second.Interaction.ID}, kinds); d != "" {
			t.Errorf("jobs: %s", d)
		}
		third, _, err := s.Open(t.Context(), again(t, second))
		noError(t, err)
		if root := must[bridge.Record](t)(s.Load(t.Context(), first.Interaction.ID)); root.Head != third.Interaction.ID || root.Next != second.Interaction.ID {
			t.Errorf("the first after the third: %+v", root)
		}
		gone := again(t, third)
		gone.Interaction.Previous = must[bridge.ID](t)(bridge.NewID())
		if _, _, err := s.Open(t.Context(), gone); bridge.ErrorCode(err) != bridge.CodeNotFound {
			t.Errorf("after nothing: %v", err)
		}
	})
}

// TestRootLivesOn checks that the first round can be read for as long as its messages
// show a later one that is pending.
func TestRootLivesOn(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := stored.InMemory(t, nil, func() time.Time { return now })
	first := posted(t, s, open(t, s, nil), 0)
	long := func(o life.Opening) life.Opening {
		o.Interaction.Deadline = o.Interaction.Created.Add(bridge.MaxTimeout)
		return o
	}
	last := first
	for range 3 {
		next, _, err := s.Open(t.Context(), long(again(t, last)))
		noError(t, err)
		last = next
		now = now.Add(bridge.MaxTimeout - time.Hour)
	}
	for name, id := range map[string]bridge.ID{"root": first.Interaction.ID, "last": last.Interaction.ID} {
		if r, err := s.Load(t.Context(), id); err != nil || len(r.Messages) != 1 {
			t.Errorf("the %s has %d messages, %v", name, len(r.Messages), err)
		}
	}
}

// TestLateAnswers checks that the answers to deferred requests are kept in order until
// the agent acknowledges them.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		session := func(i *bridge.Interaction) { i.Session = "s" }
		var want []bridge.ID
		for range 5 {
			id := open(t, s, session).Interaction.ID
			if q := mark(t, s, id, life.Mark{Queued: time.Hour}); q.Queued.IsZero() || q.State != bridge.StatePending || !q.Over() {
				t.Fatalf("%+v", q)
			}
			if got := must[*bridge.Record](t)(core.Await(t.Context(), s, id)); got.State != bridge.StatePending {
				t.Errorf("a waiter saw %s", got.State)
			}
			approve(t, s, id)
			want = append(want, id)
			pass(t, 2*time.Millisecond)
		}
		direct := open(t, s, session) // a response with a waiter is not a late answer
		approve(t, s, direct.Interaction.ID)
		read := func() (ids []string, of []bridge.ID) {
			t.Helper()
			for _, m := range must[[]bridge.Message](t)(mailbox(s).Messages(t.Context(), "ci", "s", 100)) {
				ids, of = append(ids, m.ID), append(of, m.Record.Interaction.ID)
			}
			return ids, of
		}
		ids, got := read()
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("messages: %s", d)
		}
		for _, other := range [][2]string{{"ci", "other"}, {"other", "s"}} {
			if items := must[[]bridge.Message](t)(mailbox(s).Messages(t.Context(), other[0], other[1], 100)); len(items) != 0 {
				t.Errorf("%v reads %d", other, len(items))
			}
		}
		for _, n := range []int{3, 0} {
			if acked := must[[]bridge.ID](t)(mailbox(s).Acknowledge(t.Context(), "ci", "s", ids[2])); len(acked) != n {
				t.Errorf("acknowledged %v, want %d", acked, n)
			}
		}
		if _, left := read(); cmp.Diff(want[3:], left) != "" {
			t.Errorf("left: %v", left)
		}
		if _, err := s.Mark(t.Context(), want[0], life.Mark{Queued: time.Hour}); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("queued after its end: %v", err)
		}
	})
}

// TestAcknowledged checks that an acknowledgment removes the late answers up to the one
// that the agent has read, and none that came later, whatever the clock says.
func TestAcknowledged(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	clock.Store(time.Now().UnixMilli())
	seals := broker.NewSeals([]byte("key"))
	s := stored.On(t, memory.NewAt(seals, func() time.Time { return time.UnixMilli(clock.Load()) }), seals, core.Options{Node: "n"})
	answer := func() bridge.ID {
		t.Helper()
		id := open(t, s, func(i *bridge.Interaction) { i.Session = "s" }).Interaction.ID
		mark(t, s, id, life.Mark{Queued: time.Hour})
		approve(t, s, id)
		return id
	}
	read := func(want ...bridge.ID) (last string) {
		t.Helper()
		var got []bridge.ID
		for _, m := range must[[]bridge.Message](t)(mailbox(s).Messages(t.Context(), "ci", "s", 100)) {
			got, last = append(got, m.Record.Interaction.ID), m.ID
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the messages are %s", d)
		}
		return last
	}
	acknowledge := func(through string, want ...bridge.ID) {
		t.Helper()
		if d := cmp.Diff(want, must[[]bridge.ID](t)(mailbox(s).Acknowledge(t.Context(), "ci", "s", through))); d != "" {
			t.Errorf("acknowledged are %s", d)
		}
	}
	for _, back := range []int64{0, 500} { // within one millisecond, and after a failover to a clock that is behind
		for range 5 {
			first := answer()
			through := read(first)
			clock.Add(-back)
			second := answer()
			read(first, second)
			acknowledge(through, first)
			acknowledge(through) // repeats the call
			through = read(second)
			acknowledge(through, second)
			clock.Add(-back)
			third := answer()
			acknowledge(through)
			acknowledge(read(third), third)
		}
	}
	// An answer whose record is gone leaves the index.
	gone := answer()
	clock.Add((core.DefaultRetention + 2*time.Hour).Milliseconds())
	if _, err := s.Load(t.Context(), gone); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Fatal(err)
	}
	left := answer()
	read(left)
	for _, m := range must[[]broker.Member](t)(s.DB.Range(t.Context(), broker.Query{Index: life.LateIndex("ci", "s")})) {
		if m.Name != "" && m.Name != string(left) {
			t.Errorf("the index has %q", m.Name)
		}
	}
}
