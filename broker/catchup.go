package broker

import (
	"context"
	"slices"
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
	// quietEvents is the number of events that are read even if fewer callers
	// wait. More are not worth two more calls of Redis.
	quietEvents = 16
	// checkMost is the number of interactions above which events are always read:
	// reading the states of all would take too long.
	checkMost = 4096
	// catchUpMost is the number of batches of events that are read at a time.
	catchUpMost = 16
)

// catchUp reads the journal while callers wait.
func (h *hub) catchUp(ctx context.Context) {
	beat := time.Now()
	for bridge.Pause(ctx, catchUpEvery) {
		h.mu.Lock()
		since := h.since
		h.mu.Unlock()
		if since != "" {
			h.readEvents(ctx, since)
		}
		if time.Since(beat) > beatEvery {
			beat = time.Now()
			if since != "" {
				h.sendBeat(ctx)
			}
			h.abandoned(ctx)
		}
	}
}

func (h *hub) sendBeat(ctx context.Context) {
	err := h.run(ctx, h.scripts.beat, []string{h.keys.nodes()}, h.keys.wake(h.node), aliveFor.Milliseconds()).Err()
	if err != nil {
		h.log.Debug("beat not stored", "error", err)
	}
}

// readEvents wakes the callers whose interactions have ended since a position in
// the journal. Where more has happened than callers wait, it reads the states of
// what they wait for instead.
func (h *hub) readEvents(ctx context.Context, since string) {
	h.mu.Lock()
	few, most := len(h.order) <= checkMost, catchUpBatch
	if few {
		most = min(h.count+quietEvents, catchUpBatch)
	}
	h.mu.Unlock()
	for range catchUpMost {
		entries, err := h.client.XRangeN(ctx, h.keys.journal(), "("+since, "+", int64(most)).Result()
		if err != nil || len(entries) == 0 {
			return // after an error, the next tick tries again
		}
		for _, m := range entries {
			if t := m.Values["t"]; t == string(bridge.EventResponse) || t == string(bridge.EventQueued) {
				id, _ := m.Values["i"].(string)
				h.wake(bridge.ID(id), nil)
			}
		}
		full := len(entries) == most
		if few && full {
			h.skipEvents(ctx, since)
			return
		}
		last := entries[len(entries)-1].ID
		if !h.advance(since, last) || !full {
			return
		}
		since = last
	}
}

// skipEvents moves to the end of the journal without reading it. It wakes the
// callers whose interactions have ended. A caller that comes after the end is
// known reads its interaction later, so it misses none of what is skipped.
func (h *hub) skipEvents(ctx context.Context, since string) {
	end, err := h.client.XRevRangeN(ctx, h.keys.journal(), "+", "-", 1).Result()
	if err != nil || len(end) == 0 {
		return // the next tick tries again
	}
	var ids []bridge.ID
	h.mu.Lock()
	for _, a := range h.order {
		ids = append(ids, a.id)
	}
	h.mu.Unlock()
	for batch := range slices.Chunk(ids, sweepBatch) {
		if h.check(ctx, batch) != nil {
			return
		}
	}
	h.advance(since, end[0].ID)
}

// advance sets the position in the journal to end, and reports whether it has not
// changed since.
func (h *hub) advance(since, end string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.since != since {
		return false
	}
	h.since = end
	return true
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
// wakes the callers of those that are no longer pending.
func (h *hub) recheck(ctx context.Context, n int) {
	if ids := h.next(n); len(ids) > 0 {
		_ = h.check(ctx, ids) // what failed is read in the next round
	}
}

// check reads the states of interactions, and wakes the callers of those that are
// no longer pending. It does not hold the lock while it reads. It returns an error
// if a state could not be read.
func (h *hub) check(ctx context.Context, ids []bridge.ID) error {
	states := make([]*redis.SliceCmd, len(ids))
	// A command that failed wakes nobody: all callers at once would keep a server
	// busy that has just come back.
	_, err := h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
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
	return err
}
