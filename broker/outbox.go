package broker

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// outbox implements bridge.Outbox.
type outbox struct{ *core }

// Claim implements bridge.Outbox. It begins with the jobs that have been due for the
// longest time.
func (ob *outbox) Claim(ctx context.Context, n int, lease time.Duration) ([]bridge.Job, error) {
	began := time.Now()
	ob.agenda.claim(began)
	reply, err := ob.run(ctx, ob.scripts.claim, []string{ob.keys.outbox(), ob.keys.jobs()}, n, lease.Milliseconds()).StringSlice()
	if err != nil {
		return nil, unavailable(err)
	}
	if ms, err := strconv.ParseInt(reply[0], 10, 64); err == nil {
		ob.agenda.expect(began.Add(time.Duration(ms) * time.Millisecond))
	}
	var jobs []bridge.Job
	for packed := reply[1:]; len(packed) > 1; packed = packed[2:] {
		j, err := parseJob(packed[0], packed[1])
		if err != nil {
			ob.log.Error("unreadable job", "job", packed[0], "error", err)
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// parseJob parses a name, kind:interaction:destination, and a state,
// attempt|fence|generation|created|leased_until.
func parseJob(name, packed string) (bridge.Job, error) {
	who, f := strings.Split(name, ":"), strings.Split(packed, "|")
	if len(who) != 3 || len(f) < 5 {
		return bridge.Job{}, bridge.Errorf(bridge.CodeInternal, "job has %d fields in its name and %d in its state", len(who), len(f))
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

func (ob *outbox) release(ctx context.Context, j bridge.Job, how string, arg any) error {
	n, err := ob.runRelease(ctx, j, how, arg)
	if err == nil && n == 2 {
		ob.poke()
	}
	return err
}

func (ob *outbox) runRelease(ctx context.Context, j bridge.Job, how string, arg any) (int, error) {
	var also func(redis.Pipeliner)
	var next *redis.StringCmd // the card that is first in its line then
	if j.Line != "" && how != "extend" {
		also = func(pipe redis.Pipeliner) {
			pipe.LRem(ctx, ob.keys.line(j.Line), 1, string(j.Interaction))
			next = pipe.LIndex(ctx, ob.keys.line(j.Line), 0)
		}
	}
	n, err := ob.runWith(ctx, also, ob.scripts.release, []string{ob.keys.outbox(), ob.keys.jobs(), ob.keys.dead()},
		j.ID, j.Fence, j.Generation, how, arg).Int()
	if err == nil && next != nil && next.Err() == nil {
		if err := (lines{ob.core}).wake(ctx, j.Line, bridge.ID(next.Val())); err != nil {
			ob.log.Debug("the next card of a line was not woken", "error", err)
		}
	}
	return n, unavailable(err)
}

// Extend implements bridge.Outbox.
func (ob *outbox) Extend(ctx context.Context, j bridge.Job, d time.Duration) (bool, error) {
	n, err := ob.runRelease(ctx, j, "extend", d.Milliseconds())
	return n == 1, err
}

// Finish implements bridge.Outbox.
func (ob *outbox) Finish(ctx context.Context, j bridge.Job) error {
	return ob.release(ctx, j, "finish", "")
}

// Retry implements bridge.Outbox.
func (ob *outbox) Retry(ctx context.Context, j bridge.Job, d time.Duration, reason string) error {
	how := "retry"
	if reason == "" {
		how = "later"
	} else {
		ob.log.Warn("delivery failed, will retry", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "in", d, "reason", reason)
	}
	err := ob.release(ctx, j, how, d.Milliseconds())
	ob.agenda.expect(time.Now().Add(d))
	return err
}

// Bury implements bridge.Outbox.
func (ob *outbox) Bury(ctx context.Context, j bridge.Job, reason string) error {
	letter, err := json.Marshal(struct {
		bridge.Job
		Reason string
		At     time.Time
	}{j, reason, time.Now().UTC()})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "dead letter")
	}
	return ob.release(ctx, j, "bury", letter)
}
