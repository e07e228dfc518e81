package broker_test

import (
	"context"
	"fmt"
	"os"
	"slices"
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
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// quiet discards what the client prints: many tests make a server unreachable.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { redistest.Close(); os.Exit(code) }), goleak.IgnoreAnyFunction(redialer))
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
		f(t, redistest.Shared(t).Client(t))
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
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	i.ID = id
	return bridge.Opening{Interaction: i, Identity: chosen(i, key), Timeout: bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}}
}

// chosen returns the identity of a call with a key that its caller chose.
func chosen(i bridge.Interaction, key string) bridge.Identity {
	return bridge.CallID{Key: key}.Identity(i.Agent, i.Session, i.Digest)
}

func open(t *testing.T, b *broker.Broker, change func(*bridge.Interaction)) bridge.Record {
	t.Helper()
	r, created, err := b.Open(t.Context(), opening(t, b, "", change))
	if err != nil || !created {
		t.Fatalf("open: created %v, %v", created, err)
	}
	return r
}

// after waits until the clock of the server is in a later millisecond.
func after(t *testing.T, c redis.UniversalClient, at time.Time) {
	t.Helper()
	await.Until(t, fmt.Sprint(at, " passes"), func() bool { return c.Time(t.Context()).Val().After(at.Add(time.Millisecond)) })
}

func yes(id bridge.ID, who string) bridge.Settlement {
	return bridge.Settlement{ID: id, Nonce: who, Response: bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &bridge.Actor{Platform: "slack", User: who}, Annotations: map[string]bridge.Annotation{},
	}}
}

// TestRaceHasOneWinner checks that concurrent decisions have exactly one
// winner.
func TestRaceHasOneWinner(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
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

// TestIdempotentOpen checks that a repeated call returns the first request, and
// that a different one under the same key is a conflict.
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
			t.Errorf("the repeat returns %s, want %s (%v, %v)", second.Interaction.ID, first.Interaction.ID, created, err)
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

// TestEventsResumeWithoutGapOrRepeat checks that pages of events contain each
// event once.
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
			got = append(got, events[0].InteractionID) // resume after each event
			cursor = events[0].Cursor
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if _, _, err := b.Events(t.Context(), "nonsense", bridge.EventFilter{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("an invalid cursor: %v", err)
		}
	})
}

// TestListPages checks that the pages of a list contain each request once.
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

// TestListOrder checks that pending requests are listed by deadline, and that a
// list can be limited to a period.
func TestListOrder(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		var ids []bridge.ID
		for n := range 5 {
			r := open(t, b, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(time.Duration(60-n) * time.Minute) })
			ids = append(ids, r.Interaction.ID)
			after(t, c, time.Now()) // each ID has a millisecond of its own
		}
		got, err := b.Pending(t.Context(), "", "")
		slices.Reverse(got)
		if err != nil || !slices.Equal(got, ids) {
			t.Errorf("the pending requests by deadline are %v, want the reverse of %v: %v", got, ids, err)
		}
		for _, f := range []bridge.ListFilter{
			{Since: ids[1].Time(), Until: ids[4].Time(), Limit: 2}, {State: bridge.StatePending, Since: ids[1].Time(), Until: ids[4].Time()},
		} {
			var listed []bridge.ID
			for {
				page, err := b.List(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page.Items {
					listed = append(listed, r.Interaction.ID)
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
			}
			if want := []bridge.ID{ids[3], ids[2], ids[1]}; !slices.Equal(listed, want) {
				t.Errorf("%+v: %v, want %v", f, listed, want)
			}
		}
	})
}

// TestGrants checks that a grant applies to its agent and session, until it
// expires or its session ends.
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

// TestForgottenSettlementIsRepeated checks that a settlement that a failover
// dropped after it was acknowledged is settled again by the same process.
func TestForgottenSettlementIsRepeated(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	b := newBroker(t, c, "n")
	r := open(t, b, nil)
	id := r.Interaction.ID
	key := "nod:{nod}:i:" + string(id)
	before := c.Dump(t.Context(), key).Val()
	if _, won, err := b.Settle(t.Context(), yes(id, "U1")); err != nil || !won {
		t.Fatal(won, err)
	}
	if err := c.RestoreReplace(t.Context(), key, time.Hour, before).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := b.Await(t.Context(), id)
	if err != nil || got.State != bridge.StateApproved || got.Response.Actor.User != "U1" {
		t.Errorf("%s %+v, %v", got.State, got.Response, err)
	}
}

// TestOutOfMemory checks that a full Redis refuses new requests and still
// stores decisions.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction").Client(t)
	b := newBroker(t, c, "n")
	r := open(t, b, nil)
	for _, size := range []int{64 << 10, 1 << 10, 16} { // the size of a command itself counts
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
	if n, err := c.Exists(t.Context(), "nod:{nod}:i:"+string(o.Interaction.ID)).Result(); err != nil || n != 0 {
		t.Error("the refused request left something behind")
	}
	if _, won, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U1")); err != nil || !won {
		t.Errorf("a decision on a full redis: %v, %v", won, err)
	}
}

// TestScriptsAreLoadedAgain checks that scripts work after Redis has lost them.
func TestScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	b := newBroker(t, c, "n")
	r := open(t, b, nil)
	if err := c.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if _, won, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U1")); err != nil || !won {
		t.Errorf("%v, %v", won, err)
	}
}
