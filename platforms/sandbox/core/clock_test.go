package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
)

// TestClock checks that a deadline passes when the clock reaches it and not
// before, that it ends with its context, and that a nil clock is that of the
// system.
func TestClock(t *testing.T) {
	t.Parallel()
	c := core.NewClock()
	start := c.Now()
	early, stopEarly := c.WithTimeout(t.Context(), 2*time.Second)
	defer stopEarly()
	late, stopLate := c.WithTimeout(t.Context(), 3*time.Second)
	defer stopLate()
	c.Advance(2*time.Second - 1)
	if early.Err() != nil || c.Since(start) != 2*time.Second-1 {
		t.Errorf("after %s: %v", c.Since(start), early.Err())
	}
	if err := c.Lapse(t.Context()); err != nil || early.Err() == nil || late.Err() != nil {
		t.Errorf("%v; the earlier deadline: %v, the later one: %v", err, early.Err(), late.Err())
	}
	stopLate()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Lapse(over); err == nil {
		t.Error("a deadline lapsed that had been cancelled")
	}
	var system *core.Clock
	if d := system.Since(time.Now().Add(-time.Hour)); d < time.Hour || d > 2*time.Hour {
		t.Errorf("an hour ago was %s ago", d)
	}
	if ctx, stop := system.WithTimeout(t.Context(), 0); ctx.Err() == nil {
		t.Error("a deadline that is now has not passed")
	} else {
		stop()
	}
}
