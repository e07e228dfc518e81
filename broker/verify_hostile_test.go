package broker

import (
	"context"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// TestVerifierAfterFailover checks that a decision that a failover has dropped is
// repeated, although this process has settled other requests of the partition since
// then: Redis has the last settlement, but not those before it.
func TestVerifierAfterFailover(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newSide(t, now)
	v := &verifier{core: s.core, settle: func(ctx context.Context, t bridge.Settlement) (bridge.Record, bool, error) {
		return s.Settle(ctx, t)
	}}
	h := &hostile{t, seed.Rand(t), now}
	var ids []bridge.ID
	for range 3 {
		o := h.opening()
		o.Timeout.State, o.Interaction.Destinations, o.Identity, o.Stoppable = bridge.StateExpired, nil, bridge.Identity{}, false
		if _, _, err := s.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, o.Interaction.ID)
	}
	settle := func(id bridge.ID) {
		t.Helper()
		one := bridge.Settlement{ID: id, Nonce: "n", Response: bridge.Response{State: bridge.StateApproved, Annotations: map[string]bridge.Annotation{}}}
		if _, won, err := s.Settle(t.Context(), one); err != nil || !won {
			t.Fatal(won, err)
		}
		v.add(one)
	}
	settle(ids[0])
	// The replica that takes over does not have it.
	if err := s.client.HDel(t.Context(), s.core.keys.record(ids[0]), fieldState, fieldResponse, "at", "n", "an").Err(); err != nil {
		t.Fatal(err)
	}
	s.client.Del(t.Context(), s.core.keys.journal())
	settle(ids[1]) // decisions go on
	settle(ids[2])
	due := v.recent
	v.recent = nil
	v.look(t.Context(), due)
	if r, err := s.Load(t.Context(), ids[0]); err != nil || r.State != bridge.StateApproved {
		t.Errorf("the lost decision is %s, %v", r.State, err)
	}
}
