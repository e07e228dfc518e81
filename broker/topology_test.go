package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// survives resolves many requests while a master is killed. It fails unless
// each one is resolved once and wakes its waiter. The openings have reached the
// replicas before, because replication is asynchronous and a failover may drop
// them.
func survives(t *testing.T, client func() redis.UniversalClient, synced func(testing.TB), kill func()) {
	t.Helper()
	b1, b2 := newBroker(t, client(), "n1"), newBroker(t, client(), "n2")
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	const n = 60
	ids := make(chan bridge.ID, n)
	done := make(chan *bridge.Record, n)
	for range n {
		o := opening(t, b1, "", nil)
		if _, _, err := b1.Open(ctx, o); err != nil {
			t.Fatal(err)
		}
		go func() {
			r, err := b1.Await(ctx, o.Interaction.ID)
			if err != nil {
				t.Errorf("a waiter: %v", err)
			}
			done <- r
		}()
		ids <- o.Interaction.ID
	}
	close(ids)
	synced(t)
	k := 0
	for id := range ids {
		if k++; k == n/3 {
			kill()
		}
		settle(t, ctx, b2, id)
	}
	for range n {
		select {
		case r := <-done:
			if r.State != bridge.StateApproved || r.Response.Actor.User != "U1" {
				t.Errorf("a waiter saw %s %+v", r.State, r.Response)
			}
		case <-ctx.Done():
			t.Fatal("a waiter was never woken")
		}
	}
	fresh, _, err := b2.Open(ctx, opening(t, b2, "", nil))
	if err != nil || fresh.State != bridge.StatePending {
		t.Errorf("after the failover: %s, %v", fresh.State, err)
	}
}

// settle repeats the same settlement until it succeeds, which its nonce makes
// safe.
func settle(t *testing.T, ctx context.Context, b *broker.Broker, id bridge.ID) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		r, won, err := b.Settle(try, yes(id, "U1"))
		cancel()
		if err == nil {
			if !won {
				t.Errorf("%s was lost to %+v", id, r.Response)
			}
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("never settled: %v", err)
		case <-tick.C:
		}
	}
}

// TestCluster checks that requests survive the failover of a master of a
// Cluster.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	survives(t, func() redis.UniversalClient { return c.Client(t) }, c.Synced, c.Masters[1].Kill)
}

// TestSentinel checks that requests survive a failover with Sentinel.
func TestSentinel(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, 1)
	survives(t, func() redis.UniversalClient { return s.Client(t) }, s.Synced, s.Master.Kill)
}

// TestClusterKeys checks that every operation on a Cluster stays in the slots
// of the keys that it declares.
func TestClusterKeys(t *testing.T) {
	t.Parallel()
	b := newBroker(t, redistest.StartCluster(t).Client(t), "n")
	ctx := t.Context()
	r, _, err := b.Open(ctx, opening(t, b, "key", func(i *bridge.Interaction) { i.Session = "s" }))
	if err != nil {
		t.Fatal(err)
	}
	id, actor := r.Interaction.ID, bridge.Actor{Platform: "slack", User: "U1"}
	for what, do := range map[string]func() error{
		"claim": func() error { _, err := b.Claim(ctx, 5, time.Minute); return err },
		"mark": func() error {
			_, err := b.Mark(ctx, id, bridge.Mark{Posted: &bridge.Posted{Ref: bridge.MessageRef{Channel: "C"}}})
			return err
		},
		"draft":  func() error { return b.SaveDraft(ctx, id, 0, bridge.Draft{Actor: actor}) },
		"drafts": func() error { _, _, err := b.Draft(ctx, id, 0, actor); return err },
		"note":   func() error { _, err := b.PutNote(ctx, "k", "v", time.Minute); return err },
		"lease":  func() error { _, err := b.Hold(ctx, "l", "me", time.Minute); return err },
		"seal": func() error {
			return b.PutSeal(ctx, 0, bridge.NewSeal{Token: "s", Entry: "1-1"})
		},
		"grant": func() error {
			_, err := b.PutGrant(ctx, bridge.Grant{Agent: "ci", Session: "s", Key: "k"})
			return err
		},
		"clear":  func() error { return b.ClearSession(ctx, "ci", "s") },
		"list":   func() error { _, err := b.List(ctx, bridge.ListFilter{}); return err },
		"events": func() error { _, _, err := b.Events(ctx, "", bridge.EventFilter{}); return err },
		"expire": func() error { _, _, err := b.Expire(ctx, 5); return err },
		"tidy":   func() error { return b.Tidy(ctx) },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, won, err := b.Settle(ctx, yes(id, "U1")); err != nil || !won {
		t.Errorf("settle: %v, %v", won, err)
	}
}
