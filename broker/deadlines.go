package broker

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Redis runs one script at a time, and one that ends many interactions
// takes milliseconds. So the size of the scripts and the number of those that are sent
// at the same time limit how long the calls of others wait.
const (
	expireMost   = 64 // interactions per script
	expireFlight = 3  // scripts in flight
	expireRounds = 32 // times that as many are sent, per call of Expire
)

// deadlines implements bridge.Deadlines.
type deadlines struct {
	*core
	hub *hub
}

// Expire implements bridge.Deadlines.
func (dl *deadlines) Expire(ctx context.Context, n int) (over []bridge.Expiry, more bool, err error) {
	now, err := dl.client.Time(ctx).Result()
	if err != nil {
		return nil, false, unavailable(err)
	}
	n = min(n, expireMost)
	until := &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10), Count: int64(n * expireFlight)}
	for range expireRounds {
		ids, err := dl.client.ZRangeByScore(ctx, dl.keys.deadlines(), until).Result()
		if err != nil || len(ids) == 0 {
			return over, false, unavailable(err)
		}
		ended, err := dl.expireAll(ctx, ids, n)
		over = append(over, ended...)
		if err != nil || int64(len(ids)) < until.Count {
			return over, false, err
		}
		if len(ended) == 0 { // another daemon expires them, or a newer one has to
			until.Offset += until.Count
		}
	}
	return over, len(over) > 0, nil
}

// expireAll expires interactions with several scripts at the same time, each of
// at most n.
func (dl *deadlines) expireAll(ctx context.Context, ids []string, n int) (over []bridge.Expiry, failed error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range slices.Chunk(ids, n) {
		wg.Go(func() {
			ended, err := dl.expire(ctx, part)
			mu.Lock()
			defer mu.Unlock()
			over, failed = append(over, ended...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	if len(over) > 0 {
		dl.poke()
	}
	return over, failed
}

// expire runs the script, and wakes the callers of this process.
func (dl *deadlines) expire(ctx context.Context, ids []string) ([]bridge.Expiry, error) {
	keys, args := dl.transitionKeys(""), []any{dl.keys.wake(dl.node)}
	for _, id := range ids {
		keys, args = append(keys, dl.keys.record(bridge.ID(id))), append(args, id)
	}
	records, waited := keys[len(keys)-len(ids):], dl.hub.awaited(ids)
	var reply *redis.Cmd
	reads := make([]*redis.MapStringStringCmd, len(ids))
	// The same pipeline reads the records that callers wait for.
	pipeline := func(run func(redis.Pipeliner) *redis.Cmd) {
		// The error of each command is in its result.
		_, _ = dl.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.Exists(ctx, dl.keys.deadlines()) // see queue.guard
			reply = run(p)
			for n, key := range records {
				if waited[n] {
					reads[n] = p.HGetAll(ctx, key)
				}
			}
			return nil
		})
	}
	pipeline(func(p redis.Pipeliner) *redis.Cmd { return dl.scripts.expire.EvalSha(ctx, p, keys, args...) })
	if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
		pipeline(func(p redis.Pipeliner) *redis.Cmd { return dl.scripts.expire.Eval(ctx, p, keys, args...) })
	}
	states, err := reply.StringSlice()
	if err != nil {
		return nil, unavailable(err)
	}
	var over []bridge.Expiry
	var tell []ended
	for n, state := range states {
		id := bridge.ID(ids[n])
		if state != "" {
			over = append(over, bridge.Expiry{ID: id, State: bridge.State(state)})
			tell = append(tell, ended{id, reads[n]})
		}
	}
	dl.hub.tell(ctx, tell)
	return over, nil
}
