package broker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker/redistest"
)

// oneSlot refuses scripts with keys of several slots, as a Cluster behind an
// address that hides it. It is a hook of go-redis.
type oneSlot struct{ refused atomic.Int32 }

func (o *oneSlot) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (o *oneSlot) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (o *oneSlot) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, c := range cmds {
			if c.Name() == "evalsha" && c.Args()[2] == 11 {
				o.refused.Add(1)
				for _, all := range cmds {
					all.SetErr(redisError("CROSSSLOT Keys in request don't hash to the same slot"))
				}
				return nil
			}
		}
		return next(ctx, cmds)
	}
}

// redisError is an error that the server replies with.
type redisError string

func (e redisError) Error() string { return string(e) }

// RedisError implements redis.Error.
func (redisError) RedisError() {}

// TestSettleUnless checks that a note prevents a settlement from the moment at
// which it is stored until it is dropped, and that it does not hide who was first.
func TestSettleUnless(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) { unless(t, c) })
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		unless(t, redistest.StartCluster(t).Client(t))
	})
	t.Run("hidden cluster", func(t *testing.T) {
		t.Parallel()
		c := redistest.Start(t).Client(t)
		var o oneSlot
		c.AddHook(&o)
		unless(t, c)
		if n := o.refused.Load(); n != 1 { // it is not tried again
			t.Errorf("%d scripts were refused, want 1", n)
		}
	})
}

func unless(t *testing.T, c redis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	b := newBroker(t, c, "n")
	for name, change := range map[string]func(*bridge.Interaction){
		"usual":        nil,
		"full scripts": func(i *bridge.Interaction) { i.Destinations = append(i.Destinations, make([]bridge.Destination, 3)...) },
	} {
		id := open(t, b, change).Interaction.ID
		s := yes(id, "U")
		s.Unless = "mute:slack/C1"
		if _, err := b.PutNote(ctx, s.Unless, "bo", 0); err != nil {
			t.Fatal(err)
		}
		if _, won, err := b.Settle(ctx, s); won || bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("%s, with the note: %t, %v", name, won, err)
		}
		if r, err := b.Load(ctx, id); err != nil || r.State != bridge.StatePending || r.Audit != nil {
			t.Errorf("%s, with the note: %s, %v", name, r.State, err)
		}
		if err := b.DropNote(ctx, s.Unless); err != nil {
			t.Fatal(err)
		}
		if r, won, err := b.Settle(ctx, s); !won || err != nil || r.State != bridge.StateApproved {
			t.Errorf("%s, without the note: %s, %t, %v", name, r.State, won, err)
		}
	}
}

// TestSettleUnlessUnreachable checks that a settlement whose note cannot be read
// fails.
func TestSettleUnlessUnreachable(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := server.Client(t)
	b := newBroker(t, c, "n")
	s := yes(open(t, b, nil).Interaction.ID, "U")
	s.Unless = "mute:slack/C1"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, won, err := b.Settle(ctx, s); won || !errors.Is(err, context.Canceled) {
		t.Errorf("%t, %v", won, err)
	}
}
