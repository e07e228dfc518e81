package broker

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// limits implements bridge.Limits.
type limits struct{ *core }

// Count implements bridge.Limits.
func (lm *limits) Count(ctx context.Context, agent string, at time.Time) (int, error) {
	key := lm.keys.rate(agent, at.Unix()/60)
	var n *redis.IntCmd
	err := lm.transact(ctx, func(p redis.Pipeliner) error {
		n = p.Incr(ctx, key)
		p.Expire(ctx, key, 2*time.Minute)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(n.Val()), nil
}

// PendingOf implements bridge.Limits.
func (lm *limits) PendingOf(ctx context.Context, agent string) (int, error) {
	n, err := lm.client.HGet(ctx, lm.keys.open(), agent).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, unavailable(err)
}
