package broker

import (
	"context"
	"maps"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// sweepEvery is the interval of reading the states of some of the
	// interactions that callers wait for. It is the last resort for a waiter
	// whose wake-up and event are lost.
	sweepEvery = time.Second
	// sweepRound is the time that the sweep takes for all of them. It takes longer
	// if they are more than sweepMost for each interval.
	sweepRound = 30 * time.Second
	sweepMost  = 1000
	// sweepBatch is the number of states in a pipeline.
	sweepBatch = 500
	// missedPause is the time between the pipelines of a round after wake-ups
	// were missed. It limits what the round takes from other calls.
	missedPause = 50 * time.Millisecond
)

// catchUp reads the event streams of the partitions that have waiters.
func (h *hub) catchUp(ctx context.Context) {
	beat := time.Now()
	for bridge.Pause(ctx, catchUpEvery) {
		h.mu.Lock()
		since := maps.Clone(h.since)
		h.mu.Unlock()
		if len(since) > 0 {
			h.readEvents(ctx, since)
		}
		if time.Since(beat) > beatEvery {
			beat = time.Now()
			h.beatAll(ctx, since)
			h.abandoned(ctx)
		}
	}
}

// beatAll sends a beat in each of the partitions.
func (h *hub) beatAll(ctx context.Context, partitions map[int]string) {
	for p := range partitions {
		keys := []string{h.keys.nodes(p)}
		err := h.run(ctx, p, h.scripts.beat, keys, h.keys.wake(h.node), aliveFor.Milliseconds()).Err()
		if err != nil {
			h.log.Debug("beat not stored", "error", err)
		}
	}
}

// readEvents wakes the callers whose interactions have ended since a position in
// the stream of each partition.
func (h *hub) readEvents(ctx context.Context, since map[int]string) {
	cmds := make(map[int]*redis.XMessageSliceCmd, len(since))
	// The error of each command is in its result. The next tick retries.
	_, _ = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n, at := range since {
			cmds[n] = p.XRangeN(ctx, h.keys.events(n), "("+at, "+", catchUpBatch)
		}
		return nil
	})
	for n, cmd := range cmds {
		msgs := cmd.Val()
		if len(msgs) == 0 {
			continue
		}
		for _, m := range msgs {
			if t := m.Values["t"]; t == string(bridge.EventResponse) || t == string(bridge.EventQueued) {
				id, _ := m.Values["i"].(string)
				h.wake(bridge.ID(id), nil)
			}
		}
		h.mu.Lock()
		if h.since[n] == since[n] {
			h.since[n] = msgs[len(msgs)-1].ID
		}
		h.mu.Unlock()
	}
}

// miss notes that wake-ups may have been missed.
func (h *hub) miss() {
	select {
	case h.missed <- struct{}{}:
	default: // a round is due in any case
	}
}

// sweep reads the states of the interactions that callers wait for: a few at
// each interval, however many wait, and all of them after wake-ups were missed.
func (h *hub) sweep(ctx context.Context) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.missed:
			h.round(ctx)
		case <-t.C:
			for rest := h.share(); rest > 0; rest -= sweepBatch {
				h.recheck(ctx, min(rest, sweepBatch))
			}
		}
	}
}

// share returns how many states to read in one interval.
func (h *hub) share() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	const intervals = int(sweepRound / sweepEvery)
	return min((len(h.order)+intervals-1)/intervals, sweepMost)
}

// round reads all states once.
func (h *hub) round(ctx context.Context) {
	h.mu.Lock()
	rest := len(h.order)
	h.swept = rest
	h.mu.Unlock()
	for rest > 0 {
		h.recheck(ctx, sweepBatch)
		if rest -= sweepBatch; rest > 0 && !bridge.Pause(ctx, missedPause) {
			return
		}
	}
}

// next returns the next IDs of the sweep, at most n. It begins again after the
// last one.
func (h *hub) next(n int) []bridge.ID {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.swept = min(h.swept, len(h.order)); h.swept == 0 {
		h.swept = len(h.order)
	}
	n = min(n, h.swept)
	ids := make([]bridge.ID, 0, n)
	for _, a := range h.order[h.swept-n : h.swept] {
		ids = append(ids, a.id)
	}
	h.swept -= n
	return ids
}

// recheck reads the states of the next interactions of the sweep, at most n, and
// wakes the callers of those that are no longer pending. It does not hold the lock
// while it reads.
func (h *hub) recheck(ctx context.Context, n int) {
	ids := h.next(n)
	if len(ids) == 0 {
		return
	}
	states := make([]*redis.SliceCmd, len(ids))
	// The error of each command is in its result. A command that failed wakes
	// nobody: all callers at once would keep a server busy that has just come back.
	_, _ = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n, id := range ids {
			states[n] = p.HMGet(ctx, h.keys.record(id), fieldState, fieldQueued, fieldPacked)
		}
		return nil
	})
	for n, id := range ids {
		if f := states[n].Val(); len(f) == 3 && (f[0] != nil || f[1] != nil || f[2] == nil) {
			h.wake(id, nil)
		}
	}
}
