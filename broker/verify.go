package broker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// verifyAfter is the delay after which a settlement is checked. By then, a
	// failover to a replica that did not have it is visible in most cases.
	verifyAfter = time.Second
	verifyTimes = 3
	verifyEvery = 250 * time.Millisecond
)

// verifier checks the recent settlements of this process. If Redis has lost
// one, it settles again with the same nonce: replication is asynchronous, and a
// failover drops its tail.
type verifier struct {
	*core
	settle func(context.Context, bridge.Settlement) (bridge.Record, bool, error)

	mu     sync.Mutex
	recent []*settled // oldest first
}

type settled struct {
	bridge.Settlement
	at    time.Time // of the next check
	looks int
}

func (v *verifier) add(s bridge.Settlement) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.recent = append(v.recent, &settled{Settlement: s, at: time.Now().Add(verifyAfter)})
}

// run checks settlements until ctx ends.
func (v *verifier) run(ctx context.Context) {
	for bridge.Pause(ctx, verifyEvery) {
		if due := v.due(); len(due) > 0 {
			v.look(ctx, due)
		}
	}
}

func (v *verifier) due() []*settled {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(v.recent) && v.recent[n].at.Before(now) {
		n++
	}
	due := slices.Clone(v.recent[:n])
	v.recent = slices.Delete(v.recent, 0, n)
	return due
}

// look checks the record of each settlement. A later settlement that Redis has
// proves nothing about one before a failover.
func (v *verifier) look(ctx context.Context, due []*settled) {
	states := make([]*redis.SliceCmd, len(due))
	// The error of each command is in its result.
	_, _ = v.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n, s := range due {
			states[n] = p.HMGet(ctx, v.keys.record(s.ID), fieldState, fieldPacked)
		}
		return nil
	})
	for n, s := range due {
		f, err := states[n].Result()
		switch {
		case err == nil && f[0] == nil && f[1] != nil: // still pending
			v.log.Warn("redis lost a settlement, settling it again", "id", s.ID)
			if _, _, err := v.settle(ctx, s.Settlement); err == nil {
				continue // Settle has added it again
			}
		case err == nil: // a lost record cannot be restored
			s.looks++
		}
		if s.looks < verifyTimes && ctx.Err() == nil {
			s.at = time.Now().Add(verifyAfter)
			v.mu.Lock()
			v.recent = append(v.recent, s)
			v.mu.Unlock()
		}
	}
}
