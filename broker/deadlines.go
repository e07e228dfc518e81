package broker

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// deadlines implements bridge.Deadlines.
type deadlines struct {
	*core
	hub *hub
}

// Expire implements bridge.Deadlines. It processes the partitions concurrently,
// each for as long as more interactions are due.
func (dl *deadlines) Expire(ctx context.Context, n int) ([]bridge.Expiry, bool, error) {
	due, now, err := dl.due(ctx, dl.keys.deadlines)
	if err != nil {
		return nil, false, err
	}
	var mu sync.Mutex
	var over []bridge.Expiry
	var failed error
	more := false
	var wg sync.WaitGroup
	for _, p := range due {
		wg.Go(func() {
			ended, rest, err := dl.expireDue(ctx, p, n, now)
			mu.Lock()
			defer mu.Unlock()
			over, failed, more = append(over, ended...), errors.Join(failed, err), more || rest
		})
	}
	wg.Wait()
	return over, more, failed
}

// expireRounds limits how long one partition keeps a caller.
const expireRounds = 10

// expireDue expires what is due in a partition, n at a time.
func (dl *deadlines) expireDue(ctx context.Context, partition, n int, now time.Time) (over []bridge.Expiry, more bool, err error) {
	until := &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10), Count: int64(n)}
	for range expireRounds {
		ids, err := dl.client.ZRangeByScore(ctx, dl.keys.deadlines(partition), until).Result()
		if err != nil || len(ids) == 0 {
			return over, false, unavailable(err)
		}
		ended, err := dl.expire(ctx, partition, ids)
		if over = append(over, ended...); err != nil || len(ids) < n {
			return over, false, err
		}
	}
	return over, true, nil
}

func (dl *deadlines) expire(ctx context.Context, partition int, ids []string) ([]bridge.Expiry, error) {
	keys, args := dl.transitionKeys(bridge.ID(ids[0])), []any{dl.keys.wake(dl.node)}
	for _, id := range ids {
		keys, args = append(keys, dl.keys.record(bridge.ID(id))), append(args, id)
	}
	ended, err := dl.run(ctx, partition, dl.scripts.expire, keys, args...).StringSlice()
	var over []bridge.Expiry
	var waking []bridge.ID
	for pair := range slices.Chunk(ended, 2) {
		if len(pair) == 2 {
			over = append(over, bridge.Expiry{ID: bridge.ID(pair[0]), State: bridge.State(pair[1])})
			waking = append(waking, bridge.ID(pair[0]))
		}
	}
	if len(over) > 0 {
		dl.poke(partition)
		select {
		case dl.hub.over <- waking: // the next deadlines do not wait for it
		case <-ctx.Done():
		case <-dl.hub.ended:
		}
	}
	return over, unavailable(err)
}
