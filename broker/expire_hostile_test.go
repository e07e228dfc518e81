package broker

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestExpiryBehindNewer checks that requests expire although many of a newer
// version, which this one leaves alone, are due before them.
func TestExpiryBehindNewer(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	s, ctx := newSide(t, now), t.Context()
	var first bridge.ID
	for n := range 3 * expireMost {
		o := bridge.Opening{Timeout: bridge.Response{State: bridge.StateExpired}, Interaction: bridge.Interaction{
			ID: newID(), Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "Deploy?"}, Agent: "ci",
			Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
		}}
		id := o.Interaction.ID
		if _, _, err := s.Open(ctx, o); err != nil {
			t.Fatal(err)
		}
		due := redis.Z{Member: string(id), Score: 1}
		if n == 0 {
			first, due.Score = id, 2
		} else {
			s.server.HSet(s.core.keys.record(id), fieldPacked, fmt.Sprint("9|", n))
		}
		if err := s.client.ZAdd(ctx, s.core.keys.deadlines(), due).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s.server.SetTime(now.Add(time.Hour))
	over, _, err := s.Expire(ctx, 100)
	if err != nil || len(over) != 1 || over[0].ID != first {
		t.Fatalf("%v, %v", over, err)
	}
}
