package redis

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// The state of each rate limit is in Redis, so that all daemons together stay
// within the limit, and share one queue for each channel.

// Turn implements bridge.Turns.
func (s *Store) Turn(ctx context.Context, c bridge.Call) (time.Duration, error) {
	args := append(callArgs(c), bridge.WaitForTurn.Milliseconds(), bridge.HalfwayFrom.Milliseconds(), max(1, c.Calls))
	for _, l := range c.Limits {
		period, early := l.Period+l.Margin, time.Duration(-1)*time.Millisecond
		if l.Steady {
			period = l.Period
			early = max(0, period-period/time.Duration(max(1, l.Calls))-l.Margin)
		}
		args = append(args, l.Calls, period.Milliseconds(), early.Milliseconds())
	}
	ms, err := s.scripts.turn.Run(ctx, s.client, s.keysOf(c), args...).Int64()
	return time.Duration(ms) * time.Millisecond, unavailable(ctx, err)
}

// HoldTurns implements bridge.Turns.
func (s *Store) HoldTurns(ctx context.Context, c bridge.Call, limit int, d time.Duration) error {
	args := append(callArgs(c), limit, d.Milliseconds(), bridge.AskAgain(d).Milliseconds())
	return unavailable(ctx, s.scripts.hold.Run(ctx, s.client, s.keysOf(c), args...).Err())
}

func callArgs(c bridge.Call) []any { return []any{c.Key, c.Class, flag(c.Edit)} }

func (s *Store) keysOf(c bridge.Call) []string {
	var out []string
	for _, l := range c.Limits {
		out = slices.Concat(out, s.keys.turns(c.Platform, l.Line))
	}
	return out
}
