package stored

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/redis/go-redis/v9"
)

// Opener opens another daemon's store on the database of a test.
type Opener func(node string) *Store

// Bubble runs a test on an in-memory database, in fake time.
func Bubble(t *testing.T, f func(t *testing.T, open Opener)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		seals := broker.NewSeals([]byte("key"))
		db := memory.New(seals)
		f(t, func(node string) *Store { return On(t, db, seals, core.Options{Node: node}) })
	})
}

// Each runs a test on an in-memory database in fake time, and on Redis.
func Each(t *testing.T, f func(t *testing.T, open Opener)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		Bubble(t, f)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		c := redistest.Shared(t).Client(t)
		f(t, func(node string) *Store { return OnRedis(t, c, node, 0) })
	})
}

// OnRedis opens a daemon's store on Redis.
func OnRedis(t *testing.T, c redis.UniversalClient, node string, waits int) *Store {
	t.Helper()
	seals := broker.NewSeals([]byte("key"))
	db, err := store.New(t.Context(), store.Options{Client: c, Seals: seals, WaitReplicas: waits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return On(t, db, seals, core.Options{Node: node})
}

// Must fails a test on an error.
func Must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// NoError fails a test on an error.
func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Opening returns an opening of an approval, with an idempotency key.
func Opening(t *testing.T, key string, change func(*bridge.Interaction)) life.Opening {
	t.Helper()
	i := bridge.Interaction{
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "Deploy?", OnTimeout: bridge.OnTimeoutExpire,
			Approval: &bridge.Approval{Tool: "bash", Scopes: []bridge.Scope{bridge.ScopeOnce}},
		},
		Agent: "ci", Digest: "d",
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "slack", Channel: "C1"}, {Platform: "telegram", Channel: "-1"}},
		},
		Schedule: bridge.Schedule{Created: time.Now().UTC()},
	}
	i.Deadline = i.Created.Add(time.Minute)
	if change != nil {
		change(&i)
	}
	i.ID = Must[bridge.ID](t)(bridge.NewID())
	return life.Opening{Interaction: i, Identity: bridge.CallID{Key: key}.Identity(i.Agent, i.Session, i.Digest)}
}

// Open opens an approval and returns its record.
func Open(t *testing.T, s core.Port, change func(*bridge.Interaction)) bridge.Record {
	t.Helper()
	r, created, err := s.Open(t.Context(), Opening(t, "", change))
	if err != nil || !created {
		t.Fatalf("open: created %v, %v", created, err)
	}
	return r
}

// Yes returns the resolution with which an account approves.
func Yes(id bridge.ID, who string) life.Resolution {
	return life.Resolution{ID: id, Nonce: who, Response: bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &bridge.Actor{Platform: "slack", User: who}, Annotations: map[string]bridge.Annotation{},
	}}
}

// Pass advances the time of a test.
func Pass(t *testing.T, d time.Duration) {
	t.Helper()
	if !bridge.Pause(t.Context(), d) {
		t.Fatal("the test has ended")
	}
}
