package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

const (
	sweepPoll  = 20 * time.Millisecond
	sweepMost  = time.Second // maximum delay after errors
	sweepBatch = 100         // interactions at a time, at most
)

// sweeper closes the interactions that no one answered in time.
type sweeper struct {
	deadlines core.Interactions
	log       *slog.Logger
}

// run closes interactions whose deadline has passed, until ctx ends. The delay
// doubles with each consecutive failure.
func (s *sweeper) run(ctx context.Context) {
	delay := sweepPoll
	for ctx.Err() == nil {
		over, more, err := s.deadlines.Expire(ctx, sweepBatch)
		for _, e := range over {
			s.log.Info("deadline passed", "id", e.ID, "state", e.State)
		}
		switch {
		case err == nil || len(over) > 0:
			delay = sweepPoll
		case ctx.Err() == nil:
			delay = min(2*delay, sweepMost)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("deadlines not applied", "error", err)
		}
		if !more || err != nil {
			bridge.Pause(ctx, delay)
		}
	}
}
