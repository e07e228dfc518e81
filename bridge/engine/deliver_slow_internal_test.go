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
	synctest.Test(t, func(t *testing.T) {
		calls := map[string]int{"slack": 10, "discord": 50, "telegram": 30} // per second
		o := newOffice(t, func(op *Options) {
			for name := range calls {
				op.Platforms = append(op.Platforms, &fake.Chat{As: name, Each: 300 * time.Millisecond})
			}
		})
		var ids []bridge.ID
		for name, each := range calls {
			for n := range each {
				i := fake.Question("Ship it?")
				i.Destinations = []bridge.Destination{{Platform: name, Channel: fmt.Sprint("C", n)}}
				r := o.store.Put(t, i)
				ids = append(ids, r.Interaction.ID)
				o.store.Work(life.JobPost, r.Interaction.ID, 0)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); o.dispatcher.run(ctx) }()
		time.Sleep(time.Second)
		posted := 0
		for _, id := range ids {
			posted += len(o.store.Get(id).Messages)
		}
		if posted != len(ids) {
			t.Errorf("%d of %d cards are posted within a second", posted, len(ids))
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
