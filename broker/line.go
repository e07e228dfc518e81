package broker

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// lineLength is the maximum number of cards in a line. Further cards are
	// posted without an order.
	lineLength = 4096
	lineKept   = 24 * time.Hour // in addition to the time that cards are held back
)

// lines implements bridge.Lines. A card joins its line in the pipeline of its
// opening and leaves it in the pipeline that releases its job, so that both cost
// no round trip. The order is that of the openings at Redis, so it does not
// depend on the clocks of daemons. A call that takes a card out of a line wakes
// the first card that is left. If its process dies in between, the next card that
// yields wakes it, or it becomes due after the delay that it yielded with.
type lines struct{ *core }

// join returns the commands that put the cards of an opening into their lines.
// It returns nil for an opening without cards of its own.
func (l lines) join(ctx context.Context, o bridge.Opening) func(redis.Pipeliner) {
	if !queues(o) {
		return nil
	}
	var keys []string
	l.each(o, func(key string) { keys = append(keys, key) })
	id, kept := string(o.Interaction.ID), lineKept+time.Duration(o.Interaction.Grace)
	return func(p redis.Pipeliner) {
		for _, key := range keys {
			p.RPush(ctx, key, id)
			p.LTrim(ctx, key, 0, lineLength-1)
			p.PExpire(ctx, key, kept)
		}
	}
}

// leave takes the cards of an opening that stored nothing out of their lines. If
// it fails, other cards overtake them.
func (l lines) leave(ctx context.Context, o bridge.Opening) {
	if !queues(o) {
		return
	}
	_, err := l.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		l.each(o, func(key string) { p.LRem(ctx, key, 1, string(o.Interaction.ID)) })
		return nil
	})
	if err != nil {
		l.log.Debug("card not taken out of its line", "id", o.Interaction.ID, "error", err)
		return
	}
	for n := range o.Interaction.Destinations {
		if o.Failures[n] == "" {
			l.wakeFirst(ctx, o.Interaction.Line(n))
		}
	}
}

func (l lines) each(o bridge.Opening, do func(key string)) {
	for n := range o.Interaction.Destinations {
		if o.Failures[n] == "" {
			do(l.keys.line(o.Interaction.Line(n)))
		}
	}
}

// queues reports whether an opening can have cards of its own.
func queues(o bridge.Opening) bool { return o.Response == nil && o.Interaction.Root == "" }

// Ahead implements bridge.Lines.
func (l lines) Ahead(ctx context.Context, line string, id bridge.ID) ([]bridge.ID, bool, error) {
	all, err := l.client.LRange(ctx, l.keys.line(line), 0, -1).Result()
	if err != nil {
		return nil, false, unavailable(err)
	}
	at := slices.Index(all, string(id))
	if at < 0 {
		return nil, false, nil
	}
	var ahead []bridge.ID
	for _, other := range all[:at] {
		ahead = append(ahead, bridge.ID(other))
	}
	return ahead, true, nil
}

// Overtake implements bridge.Lines. A card that has a job is not lost: a daemon
// works on it, takes the job over once its lease ends, or tries it again later.
func (l lines) Overtake(ctx context.Context, line string, id bridge.ID) (bool, error) {
	jobs, err := l.posts(ctx, line, id)
	if err != nil {
		return false, err
	}
	for _, job := range jobs {
		err := l.client.ZScore(ctx, l.keys.outbox(), job).Err()
		if !errors.Is(err, redis.Nil) {
			return false, unavailable(err)
		}
	}
	if err := l.client.LRem(ctx, l.keys.line(line), 1, string(id)).Err(); err != nil {
		return false, unavailable(err)
	}
	l.wakeFirst(ctx, line)
	return true, nil
}

// posts returns the names of the jobs that post a card of a line. There are none if
// it has no record.
func (l lines) posts(ctx context.Context, line string, id bridge.ID) ([]string, error) {
	r, err := l.load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var jobs []string
	for n := range r.Interaction.Destinations {
		if r.Interaction.Line(n) == line {
			jobs = append(jobs, string(bridge.JobPost)+":"+string(id)+":"+strconv.Itoa(n))
		}
	}
	return jobs, nil
}

// Yield implements bridge.Lines. The line is read again after the job is back,
// because the cards ahead may have left the line in the meantime.
func (l lines) Yield(ctx context.Context, line string, j bridge.Job, d time.Duration) error {
	j.Line = ""
	if err := (&outbox{l.core}).Retry(ctx, j, d, ""); err != nil {
		return err
	}
	l.wakeFirst(ctx, line)
	return nil
}

// wakeFirst wakes the first card of a line.
func (l lines) wakeFirst(ctx context.Context, line string) {
	first, err := l.client.LIndex(ctx, l.keys.line(line), 0).Result()
	if err == nil {
		err = l.wake(ctx, line, bridge.ID(first))
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		l.log.Debug("the next card of a line was not woken", "error", err)
	}
}

// wake makes the job of a card due if it waits for its turn in a line. It does not
// touch the other jobs of the request.
func (l lines) wake(ctx context.Context, line string, id bridge.ID) error {
	jobs, err := l.posts(ctx, line, id)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		woken, err := l.run(ctx, l.scripts.wake, []string{l.keys.outbox(), l.keys.jobs()}, job).Int()
		if err != nil {
			return err
		}
		if woken == 1 {
			l.poke()
		}
	}
	return nil
}
