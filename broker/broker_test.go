package broker_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redistest"
)

// quiet drops what the client prints on its own: that a server is unreachable is what
// many tests are about.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(redialer))
}

// redialer is the client's own: it looks once a second whether its pool is
// closed by now.
const redialer = "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"

func newBroker(t *testing.T, c redis.UniversalClient, node string) *broker.Broker {
	t.Helper()
	b, err := broker.New(t.Context(), broker.Options{Client: c, Node: node})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// eachRedis runs a test against a real server and the embedded one.
func eachRedis(t *testing.T, f func(t *testing.T, c redis.UniversalClient)) {
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		f(t, redistest.Start(t).Client(t))
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		c := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr(), ContextTimeoutEnabled: true})
		t.Cleanup(func() { c.Close() })
		f(t, c)
	})
}

func opening(t *testing.T, b *broker.Broker, key string, change func(*bridge.Interaction)) bridge.Opening {
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
	id, err := b.NewID(i.Session, key)
	if err != nil {
		t.Fatal(err)
	}
	i.ID = id
	return bridge.Opening{Interaction: i, IdempotencyKey: key, Timeout: bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}}
}

func open(t *testing.T, b *broker.Broker, change func(*bridge.Interaction)) bridge.Record {
	t.Helper()
	r, created, err := b.Open(t.Context(), opening(t, b, "", change))
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

func TestOpenAwaitSettle(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b1, b2 := newBroker(t, c, "n1"), newBroker(t, c, "n2")
		r := open(t, b1, nil)
		results := make(chan bridge.Record, 6)
		for n := range 6 {
			b := []*broker.Broker{b1, b2}[n%2]
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				got, err := b.Await(ctx, r.Interaction.ID)
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
			if w := <-results; w.State != bridge.StateApproved || w.Response.Actor.User != "U1" {
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
	key := fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id)
	for deadline := time.Now().Add(5 * time.Second); ; {
		w := c.HGet(t.Context(), key, "w").Val()
		all := true
		for _, n := range nodes {
			all = all && strings.Contains(w, n)
		}
		if all {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting are %q", w)
		}
	}
}

// A wake-up that gets lost on its way is made good by the event stream.
func TestLostWakeUp(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n1")
		r := open(t, b, nil)
		id := r.Interaction.ID
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		woken := make(chan error, 1)
		go func() {
			_, err := b.Await(ctx, id)
			woken <- err
		}()
		asleep(t, c, id, "n1")
		// Nobody is told about the end any more.
		if err := c.HDel(t.Context(), fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id), "w").Err(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Settle(t.Context(), yes(id, "U1")); err != nil {
			t.Fatal(err)
		}
		if err := <-woken; err != nil {
			t.Errorf("never woken: %v", err)
		}
	})
}

func TestRaceHasOneWinner(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	nodes := []*broker.Broker{newBroker(t, c, "a"), newBroker(t, c, "b"), newBroker(t, c, "c")}
	for range 20 {
		r := open(t, nodes[0], nil)
		var wins atomic.Int32
		var winner atomic.Value
		var wg sync.WaitGroup
		for n := range 30 {
			wg.Go(func() {
				who := fmt.Sprintf("U%d", n)
				got, won, err := nodes[n%3].Settle(t.Context(), yes(r.Interaction.ID, who))
				if err != nil {
					t.Error(err)
					return
				}
				if won {
					wins.Add(1)
				}
				if prev := winner.Swap(got.Response.Actor.User); prev != nil && prev != got.Response.Actor.User {
					t.Errorf("two winners were seen: %v and %v", prev, got.Response.Actor.User)
				}
			})
		}
		wg.Wait()
		if wins.Load() != 1 {
			t.Fatalf("%d winners", wins.Load())
		}
	}
}

func TestIdempotentOpen(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		first, created, err := b.Open(t.Context(), opening(t, b, "k1", nil))
		if err != nil || !created {
			t.Fatal(created, err)
		}
		second, created, err := b.Open(t.Context(), opening(t, b, "k1", nil))
		if err != nil || created || second.Interaction.ID != first.Interaction.ID {
			t.Errorf("the repeat made %s, not %s (%v, %v)", second.Interaction.ID, first.Interaction.ID, created, err)
		}
		_, _, err = b.Open(t.Context(), opening(t, b, "k1", func(i *bridge.Interaction) { i.Digest = "other" }))
		if bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("another request under the same key: %v", err)
		}
		if jobs, _ := b.Claim(t.Context(), 10, time.Minute); len(jobs) != 2 {
			t.Errorf("%d posting jobs, want 2", len(jobs))
		}
	})
}

func TestDeadlineBeatsLateAnswer(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	b := newBroker(t, c, "n")
	early := open(t, b, nil).Interaction.ID
	id := open(t, b, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(30 * time.Millisecond) }).Interaction.ID
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if over, _, err := b.Expire(ctx, 10); err != nil || len(over) != 0 {
		t.Errorf("%v expired before their time, %v", over, err)
	}
	if !bridge.Pause(ctx, 40*time.Millisecond) {
		t.Fatal("interrupted")
	}
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

func TestExpiryOnceOverNodes(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	nodes := []*broker.Broker{newBroker(t, c, "a"), newBroker(t, c, "b")}
	const n = 50
	for range n {
		open(t, nodes[0], func(i *bridge.Interaction) { i.Deadline = i.Created.Add(20 * time.Millisecond) })
	}
	done := make(map[bridge.ID]int)
	var mu sync.Mutex
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for _, b := range nodes {
		wg.Go(func() {
			for ctx.Err() == nil {
				ids, _, _ := b.Expire(ctx, 10)
				mu.Lock()
				for _, id := range ids {
					done[id]++
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
		// Both are posted; the second one only after the answer.
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
			t.Errorf("the poster was told %s", got.State)
		}
		if _, err := b.Mark(ctx, id, bridge.Mark{Delivered: true}); err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if err := b.Finish(ctx, j); err != nil {
				t.Fatal(err)
			}
		}
		edits := claimAll(t, b, 2)
		// Asked for again while it is worked on: is repeated, but only after that.
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
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var all []bridge.Job
	for len(all) < n && ctx.Err() == nil {
		jobs, err := b.Claim(ctx, n-len(all), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, jobs...)
		if len(jobs) == 0 {
			b.Wait(ctx, 50*time.Millisecond)
		}
	}
	if len(all) != n {
		t.Fatalf("%d jobs, want %d", len(all), n)
	}
	return all
}

func TestUndeliverableWhenNobodyIsLeft(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
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

func TestEventsResumeWithoutGapOrRepeat(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		var want []bridge.ID
		for range 10 {
			r := open(t, b, func(i *bridge.Interaction) { i.Session = "s1" })
			open(t, b, func(i *bridge.Interaction) { i.Session = "s2" })
			want = append(want, r.Interaction.ID)
		}
		var got []bridge.ID
		cursor := ""
		for len(got) < 10 {
			events, _, err := b.Events(t.Context(), cursor, bridge.EventFilter{Session: "s1"})
			if err != nil || len(events) == 0 {
				t.Fatalf("%d events after %d, %v", len(events), len(got), err)
			}
			got = append(got, events[0].InteractionID) // resume after each single one
			cursor = events[0].Cursor
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if _, _, err := b.Events(t.Context(), "nonsense", bridge.EventFilter{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("a strange cursor: %v", err)
		}
	})
}

func TestListPages(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		all := map[bridge.ID]bool{}
		for n := range 23 {
			r := open(t, b, nil)
			all[r.Interaction.ID] = true
			if n%2 == 0 {
				if _, _, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U")); err != nil {
					t.Fatal(err)
				}
			}
		}
		for state, want := range map[bridge.State]int{"": 23, bridge.StatePending: 11, bridge.StateApproved: 12} {
			seen := map[bridge.ID]bool{}
			f := bridge.ListFilter{State: state, Limit: 4}
			for {
				page, err := b.List(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page.Items {
					if seen[r.Interaction.ID] {
						t.Errorf("%s is listed twice", r.Interaction.ID)
					}
					seen[r.Interaction.ID] = true
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
			}
			if len(seen) != want {
				t.Errorf("state %q: %d listed, want %d", state, len(seen), want)
			}
		}
	})
}

func TestWaiterSurvivesRedisRestart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	b := newBroker(t, s.Client(t), "n")
	r := open(t, b, nil)
	done := make(chan bridge.Record)
	go func() {
		got, err := b.Await(t.Context(), r.Interaction.ID)
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	s.Kill()
	s.Restart()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	settle(t, ctx, b, r.Interaction.ID)
	select {
	case got := <-done:
		if got.State != bridge.StateApproved {
			t.Errorf("woke with %s", got.State)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the waiter was never woken")
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		ctx := t.Context()
		put := func(session, key string, ttl time.Duration) {
			origin := bridge.ID(uuid.NewString())
			if given, err := b.PutGrant(ctx, bridge.Grant{Agent: "ci", Session: session, Key: key, Origin: origin, Expires: time.Now().Add(ttl)}); err != nil || !given {
				t.Fatal(err)
			}
		}
		has := func(agent, session, key string) bool {
			all, err := b.Covering(ctx, agent, session, []string{"other", key})
			if err != nil {
				t.Fatal(err)
			}
			return len(all) == 1 && all[0].Key == key
		}
		put("s1", "k", time.Hour)
		put("", "always", time.Hour)
		put("s1", "old", -time.Second)
		for _, x := range []struct {
			agent, session, key string
			want                bool
		}{
			{"ci", "s1", "k", true}, {"ci", "s2", "k", false}, {"ci", "", "k", false}, {"other", "s1", "k", false},
			{"ci", "s2", "always", true}, {"ci", "", "always", true}, {"ci", "s1", "old", false},
		} {
			if got := has(x.agent, x.session, x.key); got != x.want {
				t.Errorf("grant %+v: %v", x, got)
			}
		}
		if err := b.ClearSession(ctx, "ci", "s1"); err != nil {
			t.Fatal(err)
		}
		if has("ci", "s1", "k") || !has("ci", "s1", "always") {
			t.Error("the end of a session ends its grants and no others")
		}
	})
}

// A failover can drop what was acknowledged a moment before. Whoever settled
// it notices and settles it again.
func TestForgottenSettlementIsRepeated(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	b := newBroker(t, c, "n")
	r := open(t, b, nil)
	id := r.Interaction.ID
	key := fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id)
	before := c.Dump(t.Context(), key).Val()
	if _, won, err := b.Settle(t.Context(), yes(id, "U1")); err != nil || !won {
		t.Fatal(won, err)
	}
	if err := c.RestoreReplace(t.Context(), key, time.Hour, before).Err(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, err := b.Await(ctx, id)
	if err != nil || got.State != bridge.StateApproved || got.Response.Actor.User != "U1" {
		t.Errorf("%s %+v, %v", got.State, got.Response, err)
	}
}

// A Redis that is full refuses what is new and still takes decisions.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction").Client(t)
	b := newBroker(t, c, "n")
	r := open(t, b, nil)
	for _, size := range []int{64 << 10, 1 << 10, 16} { // a large command counts itself
		for n := 0; c.Set(t.Context(), fmt.Sprint("fill", size, ".", n), strings.Repeat("x", size), 0).Err() == nil; n++ {
			if n > 100_000 {
				t.Fatal("redis does not fill up")
			}
		}
	}
	o := opening(t, b, "key", nil)
	_, _, err := b.Open(t.Context(), o)
	if bridge.ErrorCode(err) != bridge.CodeUnavailable || !strings.Contains(bridge.PublicError(err).Hint, "maxmemory") {
		t.Errorf("opened on a full redis: %v", err)
	}
	if n, err := c.Exists(t.Context(), fmt.Sprintf("nod:{%d}:i:%s", o.Interaction.ID.Partition(), o.Interaction.ID)).Result(); err != nil || n != 0 {
		t.Error("the refused request left something behind")
	}
	if _, won, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U1")); err != nil || !won {
		t.Errorf("a decision on a full redis: %v, %v", won, err)
	}
}

func TestScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	b := newBroker(t, c, "n")
	r := open(t, b, nil)
	if err := c.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if _, won, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U1")); err != nil || !won {
		t.Errorf("%v, %v", won, err)
	}
}
