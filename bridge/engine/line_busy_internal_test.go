package engine

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// inLine stores questions of one session, whose cards are in one line, and returns
// their IDs.
func (o *office) inLine(t *testing.T, n int) []bridge.ID {
	t.Helper()
	var all []bridge.ID
	for range n {
		all = append(all, o.store.put(t, question("Ship it?")).Interaction.ID)
	}
	o.store.lines[o.lineOf(all[0])] = slices.Clone(all)
	return all
}

// lineOf returns the line of a card.
func (o *office) lineOf(id bridge.ID) string { return o.store.records[id].Interaction.Line(0) }

// claimed runs work at the same time for the post jobs of cards that were claimed
// together.
func (o *office) claimed(ids []bridge.ID, work func(bridge.Job, *place)) {
	var jobs []bridge.Job
	for _, id := range ids {
		jobs = append(jobs, o.store.work(bridge.JobPost, id, 0))
	}
	places := o.dispatcher.lineup.enter(jobs)
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			defer o.dispatcher.lineup.leave(places[j.ID])
			work(j, places[j.ID])
		})
	}
	wg.Wait()
}

// post posts cards whose jobs were claimed together.
func (o *office) post(t *testing.T, ids ...bridge.ID) {
	t.Helper()
	o.claimed(ids, func(j bridge.Job, p *place) {
		if err := o.dispatcher.do(t.Context(), j, p); err != nil {
			t.Error(err)
		}
	})
}

// TestLineOfABusyDaemon checks that a card does not overtake one that this
// process postponed, even if it is long until that one is tried again.
func TestLineOfABusyDaemon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		all := o.inLine(t, 3)
		o.post(t, all[1])
		o.post(t, all[0])
		o.post(t, all[2]) // waits for the second
		time.Sleep(lineupWait + time.Second)
		o.post(t, all[2])
		o.post(t, all[1])
		o.post(t, all[2])
		if got := o.shown(); !slices.Equal(got, all) {
			t.Errorf("posted were %v; want %v", got, all)
		}
	})
}

// TestLineOfARateLimit checks that a card keeps its place when the platform refuses
// it because of a rate limit, both for a card that waits at that moment and for one
// that comes later.
func TestLineOfARateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		all := o.inLine(t, 3)
		o.chat.errs = []error{bridge.Errorf(bridge.CodeRateLimited, "slow down")}
		o.post(t, all[0], all[1])
		o.outcomes("post retry in 250ms", "post retry in 1s, not counted")
		o.post(t, all[1])
		o.post(t, all[2])
		o.post(t, all[0])
		o.post(t, all[1])
		o.post(t, all[2])
		if got := o.shown(); !slices.Equal(got, all) {
			t.Errorf("posted were %v; want %v", got, all)
		}
		if left := o.store.lines[o.lineOf(all[0])]; len(left) > 0 {
			t.Errorf("in the line are %v", left)
		}
	})
}
