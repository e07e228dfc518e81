package broker

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Redis runs one script at a time, and one that ends many interactions
// takes milliseconds. So the size of the scripts and the number of those that are sent
// at the same time limit how long the calls of others wait.
const (
	expireMost    = 64 // interactions per script
	expireFlight  = 3  // scripts in flight
	expireCluster = 12 // the same on a Cluster, whose nodes share them
	expireRounds  = 8  // scripts per partition and call of Expire
)

// deadlines implements bridge.Deadlines.
type deadlines struct {
	*core
	hub *hub
}

// Expire implements bridge.Deadlines. It processes a few partitions at the same
// time, each for a few scripts, so that all of them make progress.
func (dl *deadlines) Expire(ctx context.Context, n int) ([]bridge.Expiry, bool, error) {
	due, now, err := dl.due(ctx, dl.keys.deadlines)
	if err != nil {
		return nil, false, err
	}
	until := &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10), Count: int64(min(n, expireMost))}
	flight := expireFlight
	if len(dl.queues) > 1 {
		flight = expireCluster
	}
	var mu sync.Mutex
	var over []bridge.Expiry
	var failed error
	more := false
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(flight, len(due)) {
		wg.Go(func() {
			for k := next.Add(1); int(k) <= len(due); k = next.Add(1) {
				ended, rest, err := dl.expireDue(ctx, due[k-1], until)
				mu.Lock()
				over, failed, more = append(over, ended...), errors.Join(failed, err), more || rest
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return over, more && len(over) > 0, failed
}

// expireDue expires what is due in a partition, with a limited number of
// scripts. It returns whether there may be more.
func (dl *deadlines) expireDue(
	ctx context.Context, partition int, until *redis.ZRangeBy,
) (over []bridge.Expiry, more bool, err error) {
	ids, err := dl.client.ZRangeByScore(ctx, dl.keys.deadlines(partition), until).Result()
	for range expireRounds {
		if err != nil || len(ids) == 0 {
			return over, false, unavailable(err)
		}
		var b batch
		b, err = dl.expire(ctx, partition, ids, until)
		if over = append(over, b.over...); len(b.over) > 0 {
			dl.poke(partition)
		}
		if err != nil || int64(len(ids)) < until.Count {
			return over, false, err
		}
		if ids = b.next; len(b.over) == 0 { // another daemon expires them, or a newer one has to
			behind := *until
			behind.Offset += until.Count
			until = &behind
			ids, err = dl.client.ZRangeByScore(ctx, dl.keys.deadlines(partition), until).Result()
		}
	}
	return over, true, nil
}

// batch is the result of a script.
type batch struct {
	over []bridge.Expiry
	next []string // due afterward
}

// expire runs the script, and wakes the callers of this process.
func (dl *deadlines) expire(ctx context.Context, partition int, ids []string, until *redis.ZRangeBy) (batch, error) {
	keys, args := dl.transitionKeys(bridge.ID(ids[0])), []any{dl.keys.wake(dl.node)}
	for _, id := range ids {
		keys, args = append(keys, dl.keys.recordIn(partition, bridge.ID(id))), append(args, id)
	}
	records, waited := keys[len(keys)-len(ids):], dl.hub.awaited(ids)
	var reply *redis.Cmd
	var next *redis.StringSliceCmd
	reads := make([]*redis.MapStringStringCmd, len(ids))
	// The same pipeline reads the records that callers wait for, and the IDs due next.
	pipeline := func(run func(redis.Pipeliner) *redis.Cmd) {
		// The error of each command is in its result.
		_, _ = dl.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			reply = run(p)
			for n, key := range records {
				if waited[n] {
					reads[n] = p.HGetAll(ctx, key)
				}
			}
			next = p.ZRangeByScore(ctx, dl.keys.deadlines(partition), until)
			return nil
		})
	}
	pipeline(func(p redis.Pipeliner) *redis.Cmd { return dl.scripts.expire.EvalSha(ctx, p, keys, args...) })
	if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
		pipeline(func(p redis.Pipeliner) *redis.Cmd { return dl.scripts.expire.Eval(ctx, p, keys, args...) })
	}
	states, err := reply.StringSlice()
	if err != nil {
		return batch{}, unavailable(err)
	}
	var b batch
	var tell []ended
	for n, state := range states {
		id := bridge.ID(ids[n])
		if state != "" {
			b.over = append(b.over, bridge.Expiry{ID: id, State: bridge.State(state)})
			tell = append(tell, ended{id, reads[n]})
		}
	}
	dl.hub.tell(ctx, tell)
	b.next, err = next.Result()
	return b, unavailable(err)
}
