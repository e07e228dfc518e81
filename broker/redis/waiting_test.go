package redis_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestTimeouts checks that a timeout of the client is an error of Redis, and the end of
// the context of a caller is not.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"network": &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}, "client": context.DeadlineExceeded,
	} {
		c := rdb.NewClient(&rdb.Options{
			Addr: "none", MaxRetries: -1, ContextTimeoutEnabled: true,
			Dialer: func(context.Context, string, string) (net.Conn, error) { return nil, err },
		})
		t.Cleanup(func() { c.Close() })
		s := redis.NewReader(c, "")
		_, got := s.Get(t.Context(), broker.Key{Kind: "thing", ID: "a"})
		_, ranged := s.Range(t.Context(), broker.Query{Index: "x"})
		if bridge.ErrorCode(got) != bridge.CodeUnavailable || bridge.ErrorCode(ranged) != bridge.CodeUnavailable {
			t.Errorf("%s: %v, %v", name, got, ranged)
		}
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		if _, got := s.Get(ctx, broker.Key{Kind: "thing", ID: "a"}); !errors.Is(got, context.DeadlineExceeded) || bridge.ErrorCode(got) == bridge.CodeUnavailable {
			t.Errorf("%s: a caller that has left: %v", name, got)
		}
	}
}

// TestSlowReplica checks that changes which need no replica are not delayed by those
// that do.
func TestSlowReplica(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	s := newStore(t, c, redis.Options{WaitReplicas: 1}) // there is none
	const slow = 8
	overtakes := func() bool {
		before := c.XLen(t.Context(), "nod:{nod}:s:journal").Val()
		done := make(chan error, slow)
		for range slow {
			go func() {
				_, err := s.Do(context.WithoutCancel(t.Context()), broker.Change{Journal: []broker.Entry{{Fields: []string{"a", "b"}}}, Replicated: true})
				done <- err
			}()
		}
		await.Until(t, "a change waits", func() bool { return c.XLen(t.Context(), "nod:{nod}:s:journal").Val() > before })
		for range 5 {
			if _, err := s.Get(t.Context(), broker.Key{Kind: "thing", ID: "a"}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Do(t.Context(), broker.Change{Set: []broker.Member{{Index: "x", Name: "a"}}}); err != nil {
				t.Fatal(err)
			}
		}
		waiting := slow - len(done)
		for range slow {
			if err := <-done; !errors.Is(err, bridge.ErrUnconfirmed) {
				t.Error(err)
			}
		}
		return waiting > 0
	}
	// On a busy machine, the changes may take longer than the wait for a replica.
	await.Until(t, "changes that need no replica overtake those that do", overtakes)
}
