package broker

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// agesRead limits how many IDs Stats reads.
const agesRead = 8000

// Stats returns counts of what is stored, and the ages of a sample of the
// pending interactions.
func (b *Broker) Stats(ctx context.Context) (bridge.Stats, error) {
	var pending, jobs, dead *redis.IntCmd
	var ids *redis.StringSliceCmd
	var deadline, due *redis.ZSliceCmd
	var clock *redis.TimeCmd
	k := b.core.keys
	_, err := b.core.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		pending, jobs, dead = p.ZCard(ctx, k.deadlines()), p.ZCard(ctx, k.outbox()), p.LLen(ctx, k.dead())
		ids = p.ZRandMember(ctx, k.deadlines(), agesRead)
		deadline, due = p.ZRangeWithScores(ctx, k.deadlines(), 0, 0), p.ZRangeWithScores(ctx, k.outbox(), 0, 0)
		clock = p.Time(ctx)
		return nil
	})
	if err != nil {
		return bridge.Stats{}, unavailable(err)
	}
	now := clock.Val()
	s := bridge.Stats{
		Waiting: b.hub.waiting(), Pending: pending.Val(), Jobs: jobs.Val(), Dead: dead.Val(),
		Overdue: past(deadline.Val(), now), Lag: past(due.Val(), now),
	}
	for _, id := range ids.Val() {
		s.Ages = append(s.Ages, max(0, now.Sub(bridge.ID(id).Time())))
	}
	if len(s.Ages) > 0 {
		s.Weight = float64(s.Pending) / float64(len(s.Ages))
	}
	return s, nil
}

// past returns how long ago the first member of a sorted set was due.
func past(first []redis.Z, now time.Time) time.Duration {
	if len(first) == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMilli(int64(first[0].Score))))
}

// waiting returns the number of callers that sleep.
func (h *hub) waiting() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(h.count)
}
