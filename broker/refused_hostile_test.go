package broker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// TestRefusedWrites checks that a server that refuses writes, because it has
// become a replica or is out of memory, stores nothing of an opening, and that
// the same calls succeed later, once.
func TestRefusedWrites(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		begin, end []any
		settles    bool // decisions are stored anyway
	}{
		"out of memory":    {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, true},
		"too few replicas": {[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, false},
		"a replica":        {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr, ContextTimeoutEnabled: true, MaxRetries: -1})
			b, ctx := quiet(t, c), t.Context()
			h := &hostile{t, seed.Rand(t), time.Now().UTC()}
			var before, during []bridge.Opening
			for n := range 20 {
				o := h.opening()
				o.Stoppable = false
				if o.Identity.Name != "" {
					o.Identity.Name = fmt.Sprint("key ", n)
				}
				if n%2 == 0 {
					before = append(before, o)
				} else {
					during = append(during, o)
				}
			}
			for _, o := range before {
				if _, created, err := b.Open(ctx, o); err != nil || !created {
					t.Fatal(created, err)
				}
			}
			was := content(t, c)
			do := func(args []any) {
				t.Helper()
				if err := c.Do(ctx, args...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			do(f.begin)
			for _, o := range during {
				if _, _, err := b.Open(ctx, o); err == nil {
					t.Fatal("an opening was accepted")
				}
			}
			approve := func(o bridge.Opening) (bool, error) {
				_, won, err := b.Settle(ctx, bridge.Settlement{ID: o.Interaction.ID, Nonce: "u", Response: bridge.Response{State: bridge.StateApproved}})
				return won, err
			}
			if !f.settles {
				for _, o := range before {
					if won, err := approve(o); err == nil || won {
						t.Fatal("a decision was accepted")
					}
				}
			}
			if diff := cmp.Diff(was, content(t, c)); diff != "" {
				t.Fatalf("a refused script stored something:\n%s", diff)
			}
			if f.settles {
				for _, o := range before {
					if won, err := approve(o); err != nil || !won {
						t.Fatal(won, err)
					}
				}
			}
			do(f.end)
			for n, o := range append(before, during...) {
				_, created, err := b.Open(ctx, o)
				if err != nil || created != (n >= len(before)) {
					t.Errorf("opening %d again: created %v, %v", n, created, err)
				}
				won, err := approve(o)
				if errors.Join(err) != nil || !won {
					t.Errorf("deciding %d: %v, %v", n, won, err)
				}
			}
		})
	}
}

// content returns all that a database holds, without what is written before an
// opening on purpose: the lines of the cards, which are dropped if the opening
// fails.
func content(t *testing.T, c *redis.Client) map[string]any {
	t.Helper()
	ctx, out := t.Context(), map[string]any{}
	for _, key := range c.Keys(ctx, "*").Val() {
		if strings.Contains(key, ":line:") {
			continue
		}
		switch kind := c.Type(ctx, key).Val(); kind {
		case "string":
			out[key] = c.Get(ctx, key).Val()
		case "hash":
			out[key] = c.HGetAll(ctx, key).Val()
		case "zset":
			out[key] = c.ZRangeWithScores(ctx, key, 0, -1).Val()
		case "list":
			out[key] = c.LRange(ctx, key, 0, -1).Val()
		case "stream":
			out[key] = c.XRange(ctx, key, "-", "+").Val()
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
	}
	return out
}
