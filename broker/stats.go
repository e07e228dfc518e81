package broker

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// agesRead limits how many IDs of a partition Stats reads.
const agesRead = 500

// Stats returns counts of what is stored, and the ages of a sample of the
// pending interactions.
func (b *Broker) Stats(ctx context.Context) (bridge.Stats, error) {
	type counts struct {
		pending, jobs, dead *redis.IntCmd
		ids                 *redis.StringSliceCmd
		deadline, due       *redis.ZSliceCmd
	}
	cmds := make([]counts, b.core.partitions)
	var clock *redis.TimeCmd
	_, err := b.core.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range cmds {
			cmds[n] = counts{
				pending: p.ZCard(ctx, b.core.keys.deadlines(n)), jobs: p.ZCard(ctx, b.core.keys.outbox(n)), dead: p.LLen(ctx, b.core.keys.dead(n)),
				ids:      p.ZRandMember(ctx, b.core.keys.deadlines(n), agesRead),
				deadline: p.ZRangeWithScores(ctx, b.core.keys.deadlines(n), 0, 0), due: p.ZRangeWithScores(ctx, b.core.keys.outbox(n), 0, 0),
			}
		}
		clock = p.Time(ctx)
		return nil
	})
	if err != nil {
		return bridge.Stats{}, unavailable(err)
	}
	now := clock.Val()
	s := bridge.Stats{Waiting: b.hub.waiting()}
	for _, c := range cmds {
		s.Pending += c.pending.Val()
		s.Jobs += c.jobs.Val()
		s.Dead += c.dead.Val()
		s.Overdue = max(s.Overdue, past(c.deadline.Val(), now))
		s.Lag = max(s.Lag, past(c.due.Val(), now))
		for _, id := range c.ids.Val() {
			s.Ages = append(s.Ages, max(0, now.Sub(bridge.ID(id).Time())))
		}
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
	var n int64
	for _, c := range h.count {
		n += int64(c)
	}
	return n
}
