package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestOrder checks that the cards of an agent appear in a channel in the order
// of its requests, in whatever order their jobs are handed out.
func TestOrder(t *testing.T) {
	t.Parallel()
	for range 25 {
		synctest.Test(t, func(t *testing.T) {
			o := newOffice(t)
			var want []bridge.ID
			for range 8 {
				want = append(want, o.store.put(t, question("Ship it?")).Interaction.ID)
			}
			for _, n := range []int{5, 2, 7, 0, 4, 1, 6, 3} {
				o.store.work(bridge.JobPost, want[n], 0)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); o.dispatcher.run(ctx) }()
			time.Sleep(time.Minute)
			stop()
			<-ended
			if got := o.shown(); !slices.Equal(got, want) {
				t.Fatalf("posted were\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// shown returns the requests in the order in which their cards appeared.
func (o *office) shown() []bridge.ID {
	o.chat.mu.Lock()
	defer o.chat.mu.Unlock()
	var out []bridge.ID
	for _, v := range o.chat.views {
		out = append(out, v.Record.Interaction.ID)
	}
	return out
}

// TestLineup checks that a card waits only for earlier cards of its agent and
// channel, and not forever.
func TestLineup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLineup()
		places := l.enter([]bridge.Job{
			{ID: "c", Kind: bridge.JobPost, Interaction: "3"}, {ID: "a", Kind: bridge.JobPost, Interaction: "1"},
			{ID: "b", Kind: bridge.JobPost, Interaction: "2"}, {ID: "e", Kind: bridge.JobEdit, Interaction: "0"},
		})
		record := func(agent string) bridge.Record {
			var r bridge.Record
			r.Interaction.Agent, r.Interaction.Destinations = agent, []bridge.Destination{{Platform: "chat", Channel: "C"}}
			return r
		}
		if places["e"] != nil || l.await(t.Context(), nil, record("ci"), 0) {
			t.Error("an edit has a place")
		}
		if l.await(t.Context(), places["a"], record("ci"), 0) {
			t.Error("the first one waited")
		}
		if l.await(t.Context(), places["b"], record("other"), 0) {
			t.Error("another agent waited")
		}
		began := time.Now()
		if !l.await(t.Context(), places["c"], record("ci"), 0) || time.Since(began) != lineupWait {
			t.Errorf("a card waited %s for one that does not end; want %s", time.Since(began), lineupWait)
		}
		go func() {
			time.Sleep(time.Second)
			l.leave(places["a"])
		}()
		began = time.Now()
		if !l.await(t.Context(), places["c"], record("ci"), 0) || time.Since(began) != time.Second {
			t.Errorf("a card waited %s; want a second", time.Since(began))
		}
		l.leave(places["b"])
		l.leave(places["c"])
		if len(l.entries) != 0 {
			t.Errorf("%d places are left", len(l.entries))
		}
	})
}
