package engine

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestSlowPlatform checks that a daemon makes the calls of a second that all
// platforms together accept, although each call takes long.
func TestSlowPlatform(t *testing.T) {
	t.Parallel()
	const (
		slack, discord, telegram = 10, 50, 30 // calls per second
		calls                    = slack + discord + telegram
	)
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.chat.Each = 300 * time.Millisecond
		var ids []bridge.ID
		for n := range calls {
			i := fake.Question("Ship it?")
			i.Destinations = []bridge.Destination{{Platform: i.Destinations[0].Platform, Channel: fmt.Sprint("C", n)}}
			r := o.store.Put(t, i)
			ids = append(ids, r.Interaction.ID)
			o.store.Work(life.JobPost, r.Interaction.ID, 0)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); o.dispatcher.run(ctx) }()
		time.Sleep(time.Second)
		posted := 0
		for _, id := range ids {
			posted += len(o.store.Get(id).Messages)
		}
		if posted != calls {
			t.Errorf("%d of %d cards are posted within a second", posted, calls)
		}
		stop()
		<-done
	})
}

// TestDelayIsBounded checks that one response with an absurd time does not delay a
// card until its request is over.
func TestDelayIsBounded(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{math.MaxInt64: time.Hour, time.Minute: time.Minute, -1: firstBackoff} {
		e := bridge.Errorf(bridge.CodeRateLimited, "later")
		e.RetryAfter = given
		if got := delayAfter(core.Job{Attempt: 1}, e); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
