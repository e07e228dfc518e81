package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// opener opens another daemon on the database of a test.
type opener func(node string) *stored.Store

// bubble runs a test on a database in this process, in fake time.
func bubble(t *testing.T, f func(t *testing.T, open opener)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		seals := broker.NewSeals([]byte("key"))
		db := memory.New(seals)
		f(t, func(node string) *stored.Store { return stored.On(t, db, seals, core.Options{Node: node}) })
	})
}

// each runs a test on a database in this process, in fake time, and in Redis.
func each(t *testing.T, f func(t *testing.T, open opener)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		bubble(t, f)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		c := redistest.Shared(t).Client(t)
		f(t, func(node string) *stored.Store { return onRedis(t, c, node, 0) })
	})
}

// onRedis opens a daemon on a Redis.
func onRedis(t *testing.T, c rdb.UniversalClient, node string, waits int) *stored.Store {
	t.Helper()
	seals := broker.NewSeals([]byte("key"))
	db, err := redis.New(t.Context(), redis.Options{Client: c, Seals: seals, WaitReplicas: waits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return stored.On(t, db, seals, core.Options{Node: node})
}

// must fails a test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pass lets time pass.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	if !bridge.Pause(t.Context(), d) {
		t.Fatal("the test has ended")
	}
}

func opening(t *testing.T, key string, change func(*bridge.Interaction)) bridge.Opening {
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
	i.ID = must[bridge.ID](t)(bridge.NewID())
	return bridge.Opening{Interaction: i, Identity: bridge.CallID{Key: key}.Identity(i.Agent, i.Session, i.Digest), Timeout: expired()}
}

func expired() bridge.Response {
	return bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}
}

func open(t *testing.T, s bridge.Store, change func(*bridge.Interaction)) bridge.Record {
	t.Helper()
	r, created, err := s.Open(t.Context(), opening(t, "", change))
	if err != nil || !created {
		t.Fatalf("open: created %v, %v", created, err)
	}
	return r
}

func yes(id bridge.ID, who string) bridge.Settlement {
	return bridge.Settlement{ID: id, Nonce: who, Response: bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &bridge.Actor{Platform: "slack", User: who}, Annotations: map[string]bridge.Annotation{},
	}}
}

// approve approves a request, which no one has decided before.
func approve(t *testing.T, s bridge.Store, id bridge.ID) {
	t.Helper()
	if _, won, err := s.Settle(t.Context(), yes(id, "U1")); err != nil || !won {
		t.Fatalf("approve: won %v, %v", won, err)
	}
}

func mark(t *testing.T, s bridge.Store, id bridge.ID, m bridge.Mark) bridge.Record {
	t.Helper()
	return must[bridge.Record](t)(s.Mark(t.Context(), id, m))
}

// posted records a message at a destination.
func posted(t *testing.T, s bridge.Store, r bridge.Record, destination int) bridge.Record {
	t.Helper()
	ref := bridge.MessageRef{Channel: "C", Message: "m" + string(rune('0'+destination))}
	return mark(t, s, r.Interaction.ID, bridge.Mark{Posted: &bridge.Posted{Destination: destination, Ref: ref, Revision: r.Revision}})
}

// claimAll claims n jobs.
func claimAll(t *testing.T, s *stored.Store, n int) []bridge.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	var all []bridge.Job
	for len(all) < n {
		jobs, err := s.Claim(ctx, n-len(all), time.Minute)
		if err != nil {
			t.Fatalf("%d jobs, want %d: %v", len(all), n, err)
		}
		if all = append(all, jobs...); len(jobs) == 0 {
			s.Wait(ctx, 50*time.Millisecond)
		}
	}
	return all
}

// work finishes all jobs that are due, and returns how many there were of each kind.
func work(t *testing.T, s *stored.Store) map[bridge.JobKind]int {
	t.Helper()
	kinds := map[bridge.JobKind]int{}
	for {
		jobs := must[[]bridge.Job](t)(s.Claim(t.Context(), 100, time.Minute))
		if len(jobs) == 0 {
			return kinds
		}
		for _, j := range jobs {
			kinds[j.Kind]++
			noError(t, s.Finish(t.Context(), j))
		}
	}
}
