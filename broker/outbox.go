package broker

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// poke tells a waiting worker of this process that there may be jobs.
func (b *Broker) poke() {
	select {
	case b.nudge <- struct{}{}:
	default:
	}
}

// Wait implements bridge.Outbox. It also returns at the time the next job of
// any process falls due.
func (b *Broker) Wait(ctx context.Context, d time.Duration) {
	if next, ok := b.nextDue(ctx); ok {
		d = min(d, max(next, 5*time.Millisecond))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-b.nudge:
	case <-t.C:
	}
}

// nextDue is how long until the earliest job is due; false if there is none.
func (b *Broker) nextDue(ctx context.Context) (time.Duration, bool) {
	next, now, err := b.earliest(ctx, b.keys.outbox)
	if err != nil {
		return 0, false
	}
	earliest := 0.0
	for _, at := range next {
		if at > 0 && (earliest == 0 || at < earliest) {
			earliest = at
		}
	}
	return time.UnixMilli(int64(earliest)).Sub(now), earliest > 0
}

// Claim implements bridge.Outbox. Partitions are visited in random order, so
// that a busy one starves nobody.
func (b *Broker) Claim(ctx context.Context, n int, lease time.Duration) ([]bridge.Job, error) {
	due, _, err := b.due(ctx, b.keys.outbox)
	if err != nil {
		return nil, err
	}
	var jobs []bridge.Job
	for _, k := range rand.Perm(len(due)) {
		if len(jobs) >= n {
			break
		}
		p := due[k]
		packed, err := b.run(ctx, p, b.scripts.claim, []string{b.keys.outbox(p), b.keys.jobs(p)}, n-len(jobs), lease.Milliseconds()).StringSlice()
		if err != nil {
			if len(jobs) > 0 {
				return jobs, nil // what was leased must be worked on
			}
			return nil, unavailable(err)
		}
		for k := 0; k+1 < len(packed); k += 2 {
			j, err := parseJob(packed[k], packed[k+1])
			if err != nil {
				b.log.Error("job can not be read", "job", packed[k], "error", err)
				continue
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// due are the partitions whose sorted set has something that is due by now,
// the time of Redis.
func (b *Broker) due(ctx context.Context, key func(partition int) string) ([]int, time.Time, error) {
	next, now, err := b.earliest(ctx, key)
	var due []int
	for p, at := range next {
		if at > 0 && at <= float64(now.UnixMilli()) {
			due = append(due, p)
		}
	}
	return due, now, err
}

// earliest is when the first of each partition's sorted set is due, in ms; 0
// where there is none. The time is that of Redis.
func (b *Broker) earliest(ctx context.Context, key func(partition int) string) ([]float64, time.Time, error) {
	cmds := make([]*redis.ZSliceCmd, b.partitions)
	var now *redis.TimeCmd
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range cmds {
			cmds[n] = p.ZRangeWithScores(ctx, key(n), 0, 0)
		}
		now = p.Time(ctx)
		return nil
	})
	if err != nil {
		return nil, time.Time{}, unavailable(err)
	}
	next := make([]float64, b.partitions)
	for n, c := range cmds {
		if z := c.Val(); len(z) > 0 {
			next[n] = z[0].Score
		}
	}
	return next, now.Val(), nil
}

// parseJob reads kind:interaction:destination, and
// attempt|fence|generation|created|leased_until.
func parseJob(name, packed string) (bridge.Job, error) {
	who, f := strings.Split(name, ":"), strings.Split(packed, "|")
	if len(who) != 3 || len(f) < 5 {
		return bridge.Job{}, bridge.Errorf(bridge.CodeInternal, "job has %d and %d fields", len(who), len(f))
	}
	var n [5]int64
	for k, text := range []string{who[2], f[0], f[1], f[2], f[3]} {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return bridge.Job{}, bridge.Wrap(bridge.CodeInternal, err, "job")
		}
		n[k] = v
	}
	return bridge.Job{
		ID: name, Kind: bridge.JobKind(who[0]), Interaction: bridge.ID(who[1]),
		Destination: int(n[0]), Attempt: int(n[1]), Fence: n[2], Generation: n[3], Created: time.UnixMilli(n[4]).UTC(),
	}, nil
}

func (b *Broker) release(ctx context.Context, j bridge.Job, how string, arg any) error {
	n, err := b.runRelease(ctx, j, how, arg)
	if err == nil && n == 2 {
		b.poke()
	}
	return err
}

func (b *Broker) runRelease(ctx context.Context, j bridge.Job, how string, arg any) (int, error) {
	p := j.Interaction.Partition()
	n, err := b.run(ctx, p, b.scripts.release, []string{b.keys.outbox(p), b.keys.jobs(p), b.keys.dead(p)},
		j.ID, j.Fence, j.Generation, how, arg).Int()
	return n, unavailable(err)
}

// Extend implements bridge.Outbox.
func (b *Broker) Extend(ctx context.Context, j bridge.Job, d time.Duration) (bool, error) {
	n, err := b.runRelease(ctx, j, "extend", d.Milliseconds())
	return n == 1, err
}

// Finish implements bridge.Outbox.
func (b *Broker) Finish(ctx context.Context, j bridge.Job) error {
	return b.release(ctx, j, "finish", "")
}

// Retry implements bridge.Outbox.
func (b *Broker) Retry(ctx context.Context, j bridge.Job, d time.Duration, reason string) error {
	how := "retry"
	if reason == "" {
		how = "later"
	} else {
		b.log.Warn("delivery will be tried again", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "in", d, "reason", reason)
	}
	return b.release(ctx, j, how, d.Milliseconds())
}

// Bury implements bridge.Outbox.
func (b *Broker) Bury(ctx context.Context, j bridge.Job, reason string) error {
	letter, err := json.Marshal(struct {
		bridge.Job
		Reason string
		At     time.Time
	}{j, reason, time.Now().UTC()})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "dead letter")
	}
	return b.release(ctx, j, "bury", letter)
}

// Expire implements bridge.Deadlines. Partitions go on beside each other for as
// long as they have more.
func (b *Broker) Expire(ctx context.Context, n int) ([]bridge.ID, bool, error) {
	due, now, err := b.due(ctx, b.keys.deadlines)
	if err != nil {
		return nil, false, err
	}
	var mu sync.Mutex
	var over []bridge.ID
	var failed error
	more := false
	var wg sync.WaitGroup
	for _, p := range due {
		wg.Go(func() {
			ended, rest, err := b.expireDue(ctx, p, n, now)
			mu.Lock()
			defer mu.Unlock()
			over, failed, more = append(over, ended...), errors.Join(failed, err), more || rest
		})
	}
	wg.Wait()
	return over, more, failed
}

// expireRounds bounds how long one partition keeps a caller.
const expireRounds = 10

// expireDue ends what is due in a partition, n at a time.
func (b *Broker) expireDue(ctx context.Context, partition, n int, now time.Time) (over []bridge.ID, more bool, err error) {
	until := &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10), Count: int64(n)}
	for range expireRounds {
		ids, err := b.client.ZRangeByScore(ctx, b.keys.deadlines(partition), until).Result()
		if err != nil || len(ids) == 0 {
			return over, false, unavailable(err)
		}
		ended, err := b.expire(ctx, partition, ids)
		if over = append(over, ended...); err != nil || len(ids) < n {
			return over, false, err
		}
	}
	return over, true, nil
}

func (b *Broker) expire(ctx context.Context, partition int, ids []string) ([]bridge.ID, error) {
	keys, args := b.transitionKeys(bridge.ID(ids[0])), []any{b.keys.wake(b.node)}
	for _, id := range ids {
		keys, args = append(keys, b.keys.record(bridge.ID(id))), append(args, id)
	}
	ended, err := b.run(ctx, partition, b.scripts.expire, keys, args...).StringSlice()
	over := make([]bridge.ID, len(ended))
	for k, id := range ended {
		over[k] = bridge.ID(id)
	}
	if len(ended) > 0 {
		b.poke()
		select {
		case b.hub.over <- slices.Clone(over): // the next deadlines do not wait for it
		case <-ctx.Done():
		case <-b.hub.ended:
		}
	}
	return over, unavailable(err)
}
