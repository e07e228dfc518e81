package core_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
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
		fewer := again(t, third) // another daemon has added a destination
		fewer.Interaction.Destinations = fewer.Interaction.Destinations[:1]
		if _, _, err := s.Open(t.Context(), fewer); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("with other destinations: %v", err)
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

// TestDeferred checks that the callers of a deferred request stop waiting, and that
// a request that has ended cannot be deferred.
func TestDeferred(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		id := open(t, s, func(i *bridge.Interaction) { i.Session = "s" }).Interaction.ID
		if q := mark(t, s, id, life.Deferred{Hold: time.Hour}); q.Queued.IsZero() || q.State != bridge.StatePending || !q.Over() {
			t.Fatalf("%+v", q)
		}
		if got := must[*bridge.Record](t)(core.Await(t.Context(), s, id)); got.State != bridge.StatePending {
			t.Errorf("a waiter saw %s", got.State)
		}
		approve(t, s, id)
		if _, err := s.Mark(t.Context(), id, life.Deferred{Hold: time.Hour}); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("deferred after its end: %v", err)
		}
	})
}
