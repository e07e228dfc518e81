package broker

import (
	"context"
	"maps"
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
	// quietEvents is the number of events that are read of a partition even if
	// fewer callers wait. More are not worth two more calls of Redis.
	quietEvents = 16
	// checkMost is the number of interactions above which events are always read:
	// finding those of a partition would take too long.
	checkMost = 4096
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
// the journal of each partition. Where more has happened than callers wait, it
// reads the states of what they wait for instead.
func (h *hub) readEvents(ctx context.Context, since map[int]string) {
	h.mu.Lock()
	few := len(h.order) <= checkMost
	most := make(map[int]int64, len(since))
	for n := range since {
		most[n] = catchUpBatch
		if few {
			most[n] = int64(min(h.count[n]+quietEvents, catchUpBatch))
		}
	}
	h.mu.Unlock()
	cmds := make(map[int]*redis.XMessageSliceCmd, len(since))
	// The error of each command is in its result. The next tick retries.
	_, _ = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n, at := range since {
			cmds[n] = p.XRangeN(ctx, h.keys.journal(n), "("+at, "+", most[n])
		}
		return nil
	})
	busy := map[int]string{}
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
		if few && int64(len(msgs)) == most[n] {
			busy[n] = since[n]
		} else {
			h.advance(n, since[n], msgs[len(msgs)-1].ID)
		}
	}
	if len(busy) > 0 {
		h.skipEvents(ctx, busy)
	}
}

// skipEvents moves to the ends of some journals without reading them. It wakes
// the callers of these partitions whose interactions have ended. A caller that
// comes after the ends are known reads its interaction later, so it misses none
// of what is skipped.
func (h *hub) skipEvents(ctx context.Context, since map[int]string) {
	ends := make(map[int]*redis.XMessageSliceCmd, len(since))
	// The error of each command is in its result. The next tick retries.
	_, _ = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range since {
			ends[n] = p.XRevRangeN(ctx, h.keys.journal(n), "+", "-", 1)
		}
		return nil
	})
	var ids []bridge.ID
	h.mu.Lock()
	for _, a := range h.order {
		if _, ok := since[a.id.Partition()]; ok {
			ids = append(ids, a.id)
		}
	}
	h.mu.Unlock()
	for batch := range slices.Chunk(ids, sweepBatch) {
		if h.check(ctx, batch) != nil {
			return
		}
	}
	for n, cmd := range ends {
		if last := cmd.Val(); len(last) > 0 {
			h.advance(n, since[n], last[0].ID)
		}
	}
}

// advance sets the position in the journal of a partition to end, unless it has
// changed since.
func (h *hub) advance(partition int, since, end string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.since[partition] == since {
		h.since[partition] = end
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
