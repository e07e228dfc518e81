package broker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestOutboxLeaseAndCoalescing checks that a leased job is not handed out
// again, and that several edits of a message become one job.
func TestOutboxLeaseAndCoalescing(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx := t.Context()
		b := newBroker(t, c, "n")
		r := open(t, b, nil)
		id := r.Interaction.ID
		jobs, err := b.Claim(ctx, 10, time.Minute)
		if err != nil || len(jobs) != 2 {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		if again, _ := b.Claim(ctx, 10, time.Minute); len(again) != 0 {
			t.Errorf("leased jobs were handed out again: %v", again)
		}
		// Both are posted, the second one only after the answer.
		mark := func(d int) bridge.Record {
			got, err := b.Mark(ctx, id, bridge.Mark{Posted: &bridge.Posted{Destination: d, Ref: bridge.MessageRef{Channel: "C", Message: fmt.Sprint(d)}, Revision: r.Revision}})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		mark(0)
		if _, _, err := b.Settle(ctx, yes(id, "U1")); err != nil {
			t.Fatal(err)
		}
		if got := mark(1); got.State != bridge.StateApproved {
			t.Errorf("the poster got %s", got.State)
		}
		if err := b.Delivered(ctx, r); err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if err := b.Finish(ctx, j); err != nil {
				t.Fatal(err)
			}
		}
		edits := claimAll(t, b, 2)
		// A job that is requested while a worker has it is repeated only after
		// that.
		if err := b.Retry(ctx, edits[0], 0, "test"); err != nil {
			t.Fatal(err)
		}
		second := claimAll(t, b, 1)
		if second[0].Attempt != 2 || second[0].Fence == edits[0].Fence {
			t.Errorf("the retry is %+v", second[0])
		}
		if err := b.Finish(ctx, edits[0]); err != nil { // a stale worker
			t.Fatal(err)
		}
		if err := b.Bury(ctx, second[0], "no"); err != nil {
			t.Fatal(err)
		}
		if err := b.Finish(ctx, edits[1]); err != nil {
			t.Fatal(err)
		}
		if left, _ := b.Claim(ctx, 10, time.Minute); len(left) != 0 {
			t.Errorf("jobs left: %v", left)
		}
	})
}

func claimAll(t *testing.T, b *broker.Broker, n int) []bridge.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	var all []bridge.Job
	for len(all) < n {
		jobs, err := b.Claim(ctx, n-len(all), time.Minute)
		if err != nil {
			t.Fatalf("%d jobs, want %d: %v", len(all), n, err)
		}
		if all = append(all, jobs...); len(jobs) == 0 {
			b.Wait(ctx, 50*time.Millisecond)
		}
	}
	return all
}

// TestUndeliverableWhenNobodyIsLeft checks that a request is undeliverable when
// its last destination fails.
func TestUndeliverableWhenNobodyIsLeft(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		elsewhere := open(t, b, nil).Interaction.ID
		for n := range 2 {
			got, err := b.Mark(t.Context(), elsewhere, bridge.Mark{Failed: &bridge.Failed{Destination: n, Reason: "channel is gone", Later: true}})
			if err != nil || got.State != bridge.StatePending {
				t.Fatalf("with a later destination it is %s, %v", got.State, err)
			}
		}
		r := open(t, b, nil)
		id := r.Interaction.ID
		got, err := b.Mark(t.Context(), id, bridge.Mark{Failed: &bridge.Failed{Destination: 0, Reason: "channel is gone"}})
		if err != nil || got.State != bridge.StatePending {
			t.Fatalf("%s, %v", got.State, err)
		}
		got, err = b.Mark(t.Context(), id, bridge.Mark{Failed: &bridge.Failed{Destination: 1, Reason: "token revoked"}})
		if err != nil || got.State != bridge.StateUndeliverable || got.Response.Reason != "token revoked" {
			t.Fatalf("%s %+v, %v", got.State, got.Response, err)
		}
		if _, err := b.Await(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadlineBeatsLateAnswer checks that a response after the deadline expires
// the request.
func TestDeadlineBeatsLateAnswer(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	b := newBroker(t, c, "n")
	early := open(t, b, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(time.Hour) }).Interaction.ID
	id := open(t, b, nil).Interaction.ID // it expires after a minute
	if over, _, err := b.Expire(t.Context(), 10); err != nil || len(over) != 0 {
		t.Errorf("%v expired before their time, %v", over, err)
	}
	server.SetTime(time.Now().Add(2 * time.Minute))
	got, won, err := b.Settle(t.Context(), yes(id, "U1"))
	if err != nil || won || got.State != bridge.StateExpired {
		t.Errorf("an answer after the deadline: won %v, state %s, %v", won, got.State, err)
	}
	if !got.Response.At.Equal(got.Interaction.Deadline) {
		t.Errorf("expired at %v, deadline was %v", got.Response.At, got.Interaction.Deadline)
	}
	if over, more, err := b.Expire(t.Context(), 10); len(over) != 0 || more || err != nil {
		t.Errorf("expired again: %v, %v, %v", over, more, err)
	}
	if got, err := b.Load(t.Context(), early); err != nil || got.State != bridge.StatePending {
		t.Errorf("one that is not due: %s, %v", got.State, err)
	}
}

// TestExpiryOnceOverNodes checks that several brokers expire each request once.
func TestExpiryOnceOverNodes(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	nodes := []*broker.Broker{newBroker(t, c, "a"), newBroker(t, c, "b")}
	const n = 50
	for range n {
		open(t, nodes[0], func(i *bridge.Interaction) { i.Deadline = i.Created.Add(20 * time.Millisecond) })
	}
	done := make(map[bridge.ID]int)
	var mu sync.Mutex
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	var wg sync.WaitGroup
	for _, b := range nodes {
		wg.Go(func() {
			for ctx.Err() == nil {
				over, _, _ := b.Expire(ctx, 10)
				mu.Lock()
				for _, e := range over {
					if e.State != bridge.StateExpired {
						t.Errorf("%s is %s", e.ID, e.State)
					}
					done[e.ID]++
				}
				if len(done) == n {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(done) != n {
		t.Fatalf("%d of %d expired", len(done), n)
	}
	events, _, err := nodes[0].Events(t.Context(), "", bridge.EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	responses := map[bridge.ID]int{}
	for _, e := range events {
		if e.Type == bridge.EventResponse {
			responses[e.InteractionID]++
		}
	}
	for id, k := range responses {
		if k != 1 || done[id] != 1 {
			t.Errorf("%s ended %d times, reported %d times", id, k, done[id])
		}
	}
	if len(responses) != n {
		t.Errorf("%d ends, want %d", len(responses), n)
	}
}
