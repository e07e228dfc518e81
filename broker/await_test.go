package broker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestOpenAwaitSettle checks that callers at several brokers get the one
// response.
func TestOpenAwaitSettle(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b1, b2 := newBroker(t, c, "n1"), newBroker(t, c, "n2")
		r := open(t, b1, nil)
		results := make(chan *bridge.Record, 6)
		for n := range 6 {
			b := []*broker.Broker{b1, b2}[n%2]
			go func() {
				got, err := b.Await(t.Context(), r.Interaction.ID)
				if err != nil {
					t.Error(err)
				}
				results <- got
			}()
		}
		asleep(t, c, r.Interaction.ID, "n1", "n2")
		got, won, err := b2.Settle(t.Context(), yes(r.Interaction.ID, "U1"))
		if err != nil || !won || got.State != bridge.StateApproved {
			t.Fatalf("settle: %v %v %v", got.State, won, err)
		}
		for range 6 {
			if w := await.Receive(t, "a response", results); w.State != bridge.StateApproved || w.Response.Actor.User != "U1" {
				t.Errorf("a waiter saw %+v", w)
			}
		}
		again, won, err := b1.Settle(t.Context(), yes(r.Interaction.ID, "U1"))
		if err != nil || !won {
			t.Errorf("the winner's repeat: won %v, %v", won, err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Errorf("the repeat changed the record: %s", d)
		}
		if late, won, _ := b1.Settle(t.Context(), yes(r.Interaction.ID, "U2")); won || late.Response.Actor.User != "U1" {
			t.Errorf("a second answer won: %+v", late.Response)
		}
	})
}

// asleep waits until the daemons have registered as waiting.
func asleep(t *testing.T, c redis.UniversalClient, id bridge.ID, nodes ...string) {
	t.Helper()
	key := "nod:{nod}:i:" + string(id)
	await.Until(t, fmt.Sprint(nodes, " wait"), func() bool {
		w := c.HGet(t.Context(), key, "w").Val()
		return !slices.ContainsFunc(nodes, func(n string) bool { return !strings.Contains(w, n) })
	})
}

// TestLostWakeUp checks that the event stream makes up for a lost wake-up.
func TestLostWakeUp(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n1")
		r := open(t, b, nil)
		id := r.Interaction.ID
		woken := make(chan error, 1)
		go func() {
			_, err := b.Await(t.Context(), id)
			woken <- err
		}()
		asleep(t, c, id, "n1")
		// No daemon is told of the end any longer.
		if err := c.HDel(t.Context(), "nod:{nod}:i:"+string(id), "w").Err(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Settle(t.Context(), yes(id, "U1")); err != nil {
			t.Fatal(err)
		}
		if err := await.Receive(t, "the wake-up", woken); err != nil {
			t.Errorf("never woken: %v", err)
		}
	})
}

// TestWaiterSurvivesRedisRestart checks that a caller gets the response
// although Redis restarted.
func TestWaiterSurvivesRedisRestart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	b := newBroker(t, s.Client(t), "n")
	r := open(t, b, nil)
	done := make(chan *bridge.Record)
	go func() {
		got, err := b.Await(t.Context(), r.Interaction.ID)
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	s.Kill()
	s.Restart()
	settle(t, b, r.Interaction.ID)
	if got := await.Receive(t, "the response", done); got.State != bridge.StateApproved {
		t.Errorf("woke with %s", got.State)
	}
}
