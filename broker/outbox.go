package broker

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
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
	cmds := make([]*redis.ZSliceCmd, b.partitions)
	var now *redis.TimeCmd
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		now = p.Time(ctx)
		for n := range cmds {
			cmds[n] = p.ZRangeWithScores(ctx, b.keys.outbox(n), 0, 0)
		}
		return nil
	})
	if err != nil {
		return 0, false
	}
	earliest, found := 0.0, false
	for _, c := range cmds {
		if z := c.Val(); len(z) > 0 && (!found || z[0].Score < earliest) {
			earliest, found = z[0].Score, true
		}
	}
	return time.UnixMilli(int64(earliest)).Sub(now.Val()), found
}

// Claim implements bridge.Outbox. Partitions are visited in random order, so
// that a busy one starves nobody.
func (b *Broker) Claim(ctx context.Context, n int, lease time.Duration) ([]bridge.Job, error) {
	var jobs []bridge.Job
	for _, p := range rand.Perm(b.partitions) {
		if len(jobs) >= n {
			break
		}
		packed, err := b.scripts.claim.Run(ctx, b.client, []string{b.keys.outbox(p), b.keys.jobs(p)}, n-len(jobs), lease.Milliseconds()).StringSlice()
		if err != nil {
			if len(jobs) > 0 {
				return jobs, nil // what was leased must be worked on
			}
			return nil, unavailable(err)
		}
		for _, s := range packed {
			j, err := parseJob(s)
			if err != nil {
				b.log.Error("job can not be read", "job", s, "error", err)
				continue
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// parseJob reads kind|interaction|destination|attempt|fence|generation|created|leased_until.
func parseJob(s string) (bridge.Job, error) {
	f := strings.Split(s, "|")
	if len(f) != 8 {
		return bridge.Job{}, bridge.Errorf(bridge.CodeInternal, "job has %d fields", len(f))
	}
	var n [5]int64
	for k, at := range []int{2, 3, 4, 5, 6} {
		v, err := strconv.ParseInt(f[at], 10, 64)
		if err != nil {
			return bridge.Job{}, bridge.Wrap(bridge.CodeInternal, err, "job")
		}
		n[k] = v
	}
	return bridge.Job{
		ID: f[0] + ":" + f[1] + ":" + f[2], Kind: bridge.JobKind(f[0]), Interaction: bridge.ID(f[1]),
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
	n, err := b.scripts.release.Run(ctx, b.client, []string{b.keys.outbox(p), b.keys.jobs(p), b.keys.dead(p)},
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
	if reason != "" {
		b.log.Warn("delivery will be tried again", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "in", d, "reason", reason)
	}
	return b.release(ctx, j, "retry", d.Milliseconds())
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

// Due implements bridge.Deadlines.
func (b *Broker) Due(ctx context.Context, n int) ([]bridge.ID, error) {
	now, err := b.client.Time(ctx).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	cmds := make([]*redis.StringSliceCmd, b.partitions)
	_, err = b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k := range cmds {
			cmds[k] = p.ZRangeByScore(ctx, b.keys.deadlines(k), &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10), Count: int64(n)})
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	var ids []bridge.ID
	for _, c := range cmds {
		for _, id := range c.Val() {
			ids = append(ids, bridge.ID(id))
		}
	}
	return ids[:min(n, len(ids))], nil
}
