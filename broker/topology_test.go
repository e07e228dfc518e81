package broker_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// settle repeats the same settlement until it succeeds, which its nonce makes
// safe.
func settle(t *testing.T, b *broker.Broker, id bridge.ID) {
	t.Helper()
	await.Until(t, string(id)+" is settled", func() bool {
		r, won, err := b.Settle(t.Context(), yes(id, "U1"))
		if err == nil && !won {
			t.Errorf("%s was lost to %+v", id, r.Response)
		}
		return err == nil
	})
}

// TestSentinel checks that requests survive a failover with Sentinel: each is
// resolved once and wakes its waiter. The openings have reached the replica before,
// because replication is asynchronous and a failover may drop them.
func TestSentinel(t *testing.T) {
	level.CI(t)
	t.Parallel()
	s := redistest.StartSentinel(t, 1)
	b1, b2 := newBroker(t, s.Client(t), "n1"), newBroker(t, s.Client(t), "n2")
	const n = 60
	done := make(chan *bridge.Record, n)
	var ids []bridge.ID
	for range n {
		id := open(t, b1, nil).Interaction.ID
		go func() {
			r, err := b1.Await(t.Context(), id)
			if err != nil {
				t.Errorf("a waiter: %v", err)
			}
			done <- r
		}()
		ids = append(ids, id)
	}
	s.Synced(t)
	for k, id := range ids {
		if k == n/3 {
			s.Master.Kill()
		}
		settle(t, b2, id)
	}
	for range ids {
		if r := await.Receive(t, "the response", done); r.State != bridge.StateApproved || r.Response.Actor.User != "U1" {
			t.Errorf("a waiter saw %s %+v", r.State, r.Response)
		}
	}
	if fresh, _, err := b2.Open(t.Context(), opening(t, b2, "", nil)); err != nil || fresh.State != bridge.StatePending {
		t.Errorf("after the failover: %s, %v", fresh.State, err)
	}
}

// staysInSlots checks that every operation on a Cluster stays in the slots of the
// keys that it declares.
func staysInSlots(t *testing.T, b *broker.Broker) {
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
			return b.PutSeal(ctx, bridge.NewSeal{Token: "s", Entry: "1-1"})
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
