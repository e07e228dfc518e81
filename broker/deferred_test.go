package broker_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// ended is the result of a caller of AwaitThen.
type ended struct {
	rec *bridge.Record
	err error
}

// awaitThen calls AwaitThen. The channel gets each result.
func awaitThen(ctx context.Context, b *broker.Broker, id bridge.ID) <-chan ended {
	done := make(chan ended, 2)
	b.AwaitThen(ctx, id, func(result bridge.Awaited) {
		rec, err := result()
		done <- ended{rec, err}
	})
	return done
}

// result returns the only result of a caller.
func result(t *testing.T, done <-chan ended) ended {
	t.Helper()
	o := await.Receive(t, "a result", done)
	t.Cleanup(func() { // a second one would be there at the end of the broker
		if len(done) > 0 {
			t.Errorf("there is a second result: %+v", <-done)
		}
	})
	return o
}

// TestAwaitThen checks that callers without a goroutine get the one response,
// however they learn of it, and that they stop to wait when their context ends
// or the daemon stops.
func TestAwaitThen(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b1, b2 := newBroker(t, c, "n1"), newBroker(t, c, "n2")
		approved := func(what string, done <-chan ended) {
			t.Helper()
			if o := result(t, done); o.err != nil || o.rec.State != bridge.StateApproved || o.rec.Response.Actor.User != "U1" {
				t.Errorf("%s: %+v, %v", what, o.rec, o.err)
			}
		}
		r := open(t, b1, nil)
		id := r.Interaction.ID
		here, there := awaitThen(t.Context(), b1, id), awaitThen(t.Context(), b2, id)
		asleep(t, c, id, "n1", "n2")
		settle(t, b2, id)
		approved("on the daemon that settles", there)
		approved("on another daemon", here)
		approved("after the end", awaitThen(t.Context(), b1, id))

		id = open(t, b1, nil).Interaction.ID
		lost := awaitThen(t.Context(), b1, id)
		asleep(t, c, id, "n1")
		if err := c.HDel(t.Context(), "nod:{nod}:i:"+string(id), "w").Err(); err != nil {
			t.Fatal(err)
		}
		settle(t, b2, id)
		approved("without a wake-up", lost)

		id = open(t, b1, nil).Interaction.ID
		ctx, cancel := context.WithCancel(t.Context())
		left, stays := awaitThen(ctx, b1, id), awaitThen(t.Context(), b1, id)
		asleep(t, c, id, "n1")
		cancel()
		if o := result(t, left); !errors.Is(o.err, context.Canceled) || o.rec != nil {
			t.Errorf("a caller that left gets %+v, %v", o.rec, o.err)
		}
		if o := result(t, awaitThen(ctx, b1, id)); !errors.Is(o.err, context.Canceled) {
			t.Errorf("a caller that never waited gets %+v, %v", o.rec, o.err)
		}
		if err := b1.Close(); err != nil {
			t.Fatal(err)
		}
		if o := result(t, stays); bridge.ErrorCode(o.err) != bridge.CodeUnavailable {
			t.Errorf("after the daemon stopped: %+v, %v", o.rec, o.err)
		}
		missing, err := bridge.NewID()
		if err != nil {
			t.Fatal(err)
		}
		if o := result(t, awaitThen(t.Context(), b2, missing)); bridge.ErrorCode(o.err) != bridge.CodeNotFound {
			t.Errorf("for no interaction: %+v, %v", o.rec, o.err)
		}
	})
}

// TestAwaitThenHasNoGoroutine checks that callers of AwaitThen take no goroutine
// while they wait, whether their opening has registered them or not.
func TestAwaitThenHasNoGoroutine(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process
	const callers = 300
	c := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	b := newBroker(t, c, "n")
	settle(t, b, open(t, b, nil).Interaction.ID)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan ended
	for n := range callers {
		o := opening(t, b, "", nil)
		o.Awaited = n%2 == 0
		if _, _, err := b.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		all = append(all, awaitThen(ctx, b, o.Interaction.ID))
	}
	await.Until(t, "the callers take no goroutines", func() bool { return runtime.NumGoroutine() <= before+callers/10 })
	cancel()
	for _, done := range all {
		if o := <-done; !errors.Is(o.err, context.Canceled) {
			t.Errorf("a caller that left gets %+v, %v", o.rec, o.err)
		}
	}
}
