package broker

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestVerifierDropsLostRecords checks that the verifier stops checking a
// settlement whose record no longer exists.
func TestVerifierDropsLostRecords(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { c.Close() })
	b, err := New(t.Context(), Options{Client: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	id, err := b.NewID("", "")
	if err != nil {
		t.Fatal(err)
	}
	v := &verifier{core: b.core, settle: b.Settle} // the one of the broker runs on its own
	v.add(bridge.Settlement{ID: id, Nonce: "n"}, nil)
	for look := 1; look <= verifyTimes; look++ {
		due := v.recent
		v.recent = nil
		if len(due) != 1 {
			t.Fatalf("look %d has %d settlements", look, len(due))
		}
		v.look(t.Context(), due)
	}
	if len(v.recent) != 0 {
		t.Error("the settlement is still checked")
	}
}

// TestVerifierLooksAtTheLast checks that one record of a partition shows that
// Redis has all its settlements, and that each is checked if it does not.
func TestVerifierLooksAtTheLast(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lose    func(t *testing.T, s *side, of []bridge.ID)
		records int // that are read in the next look
		again   int // settlements that are repeated
	}{
		"nothing is lost": {func(*testing.T, *side, []bridge.ID) {}, 1, 0},
		"the end is lost": {func(t *testing.T, s *side, of []bridge.ID) {
			s.lose(t, of[3])
			s.lose(t, of[4])
		}, 6, 2},
		"another one settled the last": {func(t *testing.T, s *side, of []bridge.ID) {
			s.lose(t, of[3])
			s.lose(t, of[4])
			if _, won, err := s.Settle(t.Context(), settlementOf(of[4], "other")); err != nil || !won {
				t.Fatal(won, err)
			}
		}, 6, 1},
		"the last record is gone": {func(t *testing.T, s *side, of []bridge.ID) {
			s.client.Del(t.Context(), s.core.keys.record(of[4]))
			s.lose(t, of[2])
		}, 6, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			s := newSide(t, now, true)
			v := &verifier{core: s.core}
			again := 0
			v.settle = func(ctx context.Context, t bridge.Settlement) (bridge.Record, bool, error) {
				again++
				return s.Settle(ctx, t)
			}
			var ids []bridge.ID
			for range 5 {
				p := &pair{t: t, rand: rand.New(rand.NewPCG(1, 1)), now: now}
				o := p.opening()
				o.Timeout.State, o.Interaction.Destinations = bridge.StateExpired, nil
				if _, _, err := s.Open(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, o.Interaction.ID)
			}
			for _, n := range []int{1, 0, 2, 3, 4} {
				one := settlementOf(ids[n], "n")
				_, fields := s.core.runAndRead(t.Context(), one.ID, s.core.scripts.settlePlain, settleArgs(s.core, one, data(one.Response))...)
				v.add(one, fields.Val())
			}
			test.lose(t, s, ids)
			due := v.recent
			v.recent = nil
			reads := countReads(s.client)
			v.look(t.Context(), due)
			if *reads != test.records || again != test.again {
				t.Errorf("%d records were read and %d settlements repeated, want %d and %d", *reads, again, test.records, test.again)
			}
		})
	}
}

// lose undoes a settlement, as if Redis had lost it.
func (s *side) lose(t *testing.T, id bridge.ID) {
	t.Helper()
	if err := s.client.HDel(t.Context(), s.core.keys.record(id), fieldState, fieldResponse, "at", "n", fieldEntry, fieldLink).Err(); err != nil {
		t.Fatal(err)
	}
}

func settlementOf(id bridge.ID, nonce string) bridge.Settlement {
	return bridge.Settlement{ID: id, Nonce: nonce, Response: bridge.Response{State: bridge.StateApproved, Annotations: map[string]bridge.Annotation{}}}
}

// readCount counts the records that are read with HMGET.
type readCount struct{ n int }

func (r *readCount) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (r *readCount) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (r *readCount) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, c := range cmds {
			if c.Name() == "hmget" {
				r.n++
			}
		}
		return next(ctx, cmds)
	}
}

func countReads(c *redis.Client) *int {
	r := &readCount{}
	c.AddHook(r)
	return &r.n
}
