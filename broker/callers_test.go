package broker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// connections are the connections of callers that wait for one request.
type connections struct {
	t    *testing.T
	id   bridge.ID
	open map[string]func() error // by name: ends one, and waits until it has ended
}

// enter lets a connection wait at a broker.
func (c connections) enter(name string, b *broker.Broker) {
	c.t.Helper()
	ctx, hangUp := context.WithCancel(c.t.Context())
	ended, waits := make(chan error, 1), make(chan struct{})
	go func() {
		b.AwaitThen(ctx, c.id, func(result bridge.Awaited) {
			_, err := result()
			ended <- err
		})
		close(waits)
	}()
	await.Receive(c.t, "the wait", waits)
	c.open[name] = func() error {
		hangUp()
		return await.Receive(c.t, "the end of the connection "+name, ended)
	}
}

// TestCallersLeave checks that the end of a connection closes a request only if
// no other connection waits for it, whether that is one of the same caller, of
// another one, or of callers without an ID, at this daemon or another.
func TestCallersLeave(t *testing.T) {
	t.Parallel()
	for name, callers := range map[string][]string{
		"one caller":                   {"a", "a"},
		"one caller, three times":      {"a", "a", "a"},
		"two callers":                  {"a", "b"},
		"two callers, one twice":       {"a", "a", "b"},
		"two callers, one twice later": {"b", "a", "a"},
		"no IDs":                       {"", ""},
		"one without an ID":            {"", "a"},
		"one without an ID, later":     {"a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
				nodes := []*broker.Broker{newBroker(t, c, "n1"), newBroker(t, c, "n2")}
				for first := range callers {
					callersLeave(t, c, nodes, callers, first)
				}
			})
		})
	}
}

// callersLeave lets the connections of callers end one after the other, the one
// with an index first.
func callersLeave(t *testing.T, c redis.UniversalClient, nodes []*broker.Broker, callers []string, first int) {
	t.Helper()
	waiting := connections{t: t, open: map[string]func() error{}}
	names := []string{"0", "1", "2"}[:len(callers)]
	for n, caller := range callers {
		o := opening(t, nodes[0], "", nil)
		o.Identity = bridge.CallID{ID: "call", Caller: caller}.Identity("agent", names[first], "digest")
		var err error
		if o.Interaction.ID, err = bridge.NewID(); err != nil {
			t.Fatal(err)
		}
		o.Interaction.RequestKey = o.Identity.Key
		rec, created, err := nodes[n%2].Open(t.Context(), o)
		if err != nil || created != (n == 0) {
			t.Fatalf("call %d: created %v, %v", n, created, err)
		}
		waiting.id = rec.Interaction.ID
		waiting.enter(names[n], nodes[n%2])
		asleep(t, c, waiting.id, []string{"n1", "n2"}[n%2])
	}
	order := append([]int{first}, 0, 1, 2)
	left := map[int]bool{}
	for _, n := range order {
		if n >= len(callers) || left[n] {
			continue
		}
		left[n] = true
		if err := waiting.open[names[n]](); !errors.Is(err, context.Canceled) {
			t.Fatalf("connection %d ended with %v", n, err)
		}
		last, err := nodes[n%2].Abandon(t.Context(), waiting.id, bridge.CallerName(callers[n]), true)
		if err != nil || last != (len(left) == len(callers)) {
			t.Errorf("connection %d of %q ended, after %d of %d: last %v, %v", n, callers, len(left)-1, len(callers), last, err)
		}
	}
}
