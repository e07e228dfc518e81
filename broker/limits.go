package broker

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// limits implements bridge.Limits.
type limits struct{ *core }

// Count implements bridge.Limits.
func (lm *limits) Count(ctx context.Context, agent string, at time.Time) (int, error) {
	key := lm.keys.rate(agent, at.Unix()/60)
	var n *redis.IntCmd
	_, err := lm.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		n = p.Incr(ctx, key)
		p.Expire(ctx, key, 2*time.Minute)
		return nil
	})
	if err != nil {
		return 0, unavailable(err)
	}
	return int(n.Val()), nil
}

// PendingOf implements bridge.Limits.
func (lm *limits) PendingOf(ctx context.Context, agent string) (int, error) {
	counts := make([]*redis.StringCmd, lm.partitions)
	_, err := lm.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range counts {
			counts[n] = p.HGet(ctx, lm.keys.open(n), agent)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, unavailable(err)
	}
	sum := 0
	for _, c := range counts {
		n, _ := strconv.Atoi(c.Val()) // the field is absent if there are none
		sum += n
	}
	return sum, nil
}
