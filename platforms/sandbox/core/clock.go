package core

import (
	"context"
	"sync"
	"time"
)

// Clock is the time that deadlines of bots follow: answers to clicks, triggers,
// tokens of interactions and response URLs. The dates of messages, rate limits
// and heartbeats follow the system clock.
//
// A nil Clock is the system clock. NewClock returns a clock that moves only
// when its owner advances it, so that a deadline cannot pass because a machine
// is slow. A Clock is safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*timer]bool
	added  chan struct{} // closed and replaced when a timer is added
}

// timer is a deadline that has not passed.
type timer struct {
	at   time.Time
	fire func(now time.Time)
}

// NewClock returns a clock that starts now and does not move on its own.
func NewClock() *Clock {
	return &Clock{now: time.Now(), timers: map[*timer]bool{}, added: make(chan struct{})}
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Since returns the time since at.
func (c *Clock) Since(at time.Time) time.Duration { return c.Now().Sub(at) }

// Advance moves the clock, and ends all deadlines up to the new time. It must
// not be called on a nil Clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for t := range c.timers {
		if !t.at.After(c.now) {
			delete(c.timers, t)
			t.fire(c.now)
		}
	}
}

// Lapse waits until a bot has a deadline, and lets the earliest deadline pass.
// It returns ctx.Err() if ctx ends first. It must not be called on a nil Clock.
func (c *Clock) Lapse(ctx context.Context) error {
	for {
		c.mu.Lock()
		added, at := c.added, time.Time{}
		for t := range c.timers {
			if at.IsZero() || t.at.Before(at) {
				at = t.at
			}
		}
		now := c.now
		c.mu.Unlock()
		if !at.IsZero() {
			c.Advance(at.Sub(now))
			return nil
		}
		select {
		case <-added:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// WithTimeout is context.WithTimeout on this clock.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if c == nil {
		return context.WithTimeout(parent, d)
	}
	ctx, cancel := context.WithCancel(parent)
	stop := c.afterFunc(d, func(time.Time) { cancel() })
	return ctx, func() { stop(); cancel() }
}

// afterFunc calls fire after d, unless stop is called first.
func (c *Clock) afterFunc(d time.Duration, fire func(time.Time)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), fire}
	c.timers[t] = true
	close(c.added)
	c.added = make(chan struct{})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, t)
	}
}
