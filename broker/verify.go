package broker

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// verifyAfter is when a settlement is looked at again. A failover to a
	// replica that had not heard of it shows by then, in most cases.
	verifyAfter = time.Second
	verifyTimes = 3
	verifyEvery = 250 * time.Millisecond
)

// verifier looks again at what this process has settled, and settles it once
// more, under the same nonce, where Redis has forgotten it: replication is
// asynchronous, and a failover drops its tail.
type verifier struct {
	*core
	settle func(context.Context, bridge.Settlement) (bridge.Record, bool, error)

	mu sync.Mutex
	// recent settlements, oldest first.
	recent []settled
}

type settled struct {
	bridge.Settlement
	at    time.Time // when to look next
	looks int
}

func (v *verifier) add(s bridge.Settlement) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.recent = append(v.recent, settled{Settlement: s, at: time.Now().Add(verifyAfter)})
}

// run looks until ctx ends.
func (v *verifier) run(ctx context.Context) {
	for bridge.Pause(ctx, verifyEvery) {
		if due := v.due(); len(due) > 0 {
			v.look(ctx, due)
		}
	}
}

func (v *verifier) due() []settled {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(v.recent) && v.recent[n].at.Before(now) {
		n++
	}
	due := append([]settled(nil), v.recent[:n]...)
	v.recent = v.recent[n:]
	return due
}

func (v *verifier) look(ctx context.Context, due []settled) {
	states := make([]*redis.SliceCmd, len(due))
	// Errors of single commands show in their results.
	_, _ = v.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n, s := range due {
			states[n] = p.HMGet(ctx, v.keys.record(s.ID), fieldState, fieldPacked)
		}
		return nil
	})
	for n, s := range due {
		f, err := states[n].Result()
		switch {
		case err == nil && f[0] == nil && f[1] != nil: // it is pending
			v.log.Warn("redis forgot a settlement, settling again", "id", s.ID)
			if _, _, err := v.settle(ctx, s.Settlement); err == nil {
				continue // and is looked at again
			}
		case err == nil: // redis answered; a record that is gone stays gone
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
