package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// deliver works on the post jobs of cards that were claimed together.
func (o *office) deliver(t *testing.T, ids ...bridge.ID) {
	t.Helper()
	o.claimed(ids, func(j bridge.Job, p *place) { o.dispatcher.work(t.Context(), j, p) })
}

// TestLineOfASlowCall checks that the cards behind one whose call takes long keep
// their places, however long it takes, and give back their jobs in the meantime.
func TestLineOfASlowCall(t *testing.T) {
	t.Parallel()
	for _, takes := range []time.Duration{lineupWait, lineupWait + outboxPoll + 2*time.Second, jobTimeout - time.Second} {
		t.Run(takes.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				o.chat.takes = []time.Duration{takes}
				all := o.inLine(t, 16)
				began := time.Now()
				o.deliver(t, all...)
				if took := time.Since(began); took != takes {
					t.Errorf("the jobs took %s, want %s", took, takes)
				}
				for o.store.lines[o.lineOf(all[0])] != nil && time.Since(began) < time.Minute {
					o.deliver(t, o.store.lines[o.lineOf(all[0])]...)
					time.Sleep(linePoll)
				}
				if got := o.shown(); !slices.Equal(got, all) {
					t.Errorf("posted were\n%v\nwant\n%v", got, all)
				}
			})
		})
	}
}

// TestLineOfASlowPlatform checks the order if each call takes long, so that the
// first cards together take longer than a job may.
func TestLineOfASlowPlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.chat.takes = slices.Repeat([]time.Duration{2 * time.Second}, 16)
		all := o.inLine(t, 16)
		for began := time.Now(); len(o.shown()) < len(all) && time.Since(began) < time.Minute; time.Sleep(linePoll) {
			o.deliver(t, o.store.lines[o.lineOf(all[0])]...)
		}
		if got := o.shown(); !slices.Equal(got, all) {
			t.Errorf("posted were\n%v\nwant\n%v", got, all)
		}
	})
}

// TestLineOfAnotherDaemon checks that a card does not overtake one that another
// daemon has a job for, however long that one takes.
func TestLineOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		all := o.inLine(t, 2)
		for range 30 {
			o.deliver(t, all[1])
			time.Sleep(linePoll)
		}
		if got := o.shown(); len(got) > 0 {
			t.Fatalf("posted were %v before the first", got)
		}
		o.deliver(t, all[0])
		o.deliver(t, all[1])
		if got := o.shown(); !slices.Equal(got, all) {
			t.Errorf("posted were %v; want %v", got, all)
		}
	})
}

// TestLineOfALostUpdate checks that the cards behind one whose job could not be
// updated do not take it for posted.
func TestLineOfALostUpdate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		all := o.inLine(t, 2)
		o.chat.takes = []time.Duration{time.Second}
		o.chat.errs = []error{bridge.Errorf(bridge.CodeUnavailable, "the platform is down")}
		o.store.drops = 1
		o.deliver(t, all...)
		if got := o.shown(); len(got) > 0 {
			t.Errorf("posted were %v, want none", got)
		}
	})
}
