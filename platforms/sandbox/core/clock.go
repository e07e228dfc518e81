package core

import (
	"context"
	"sync"
	"time"
)

// Clock is the time by which the services limit their bots: the answers to
// clicks, triggers, tokens of interactions and response URLs. The dates of
// messages, rate limits and heartbeats follow the clock of the system.
//
// A nil Clock is the clock of the system. NewClock returns one that moves only
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

// Since returns the time that has passed since at.
func (c *Clock) Since(at time.Time) time.Duration { return c.Now().Sub(at) }

// Advance moves the clock, and ends every deadline that has passed by then. It
// must not be called on a nil Clock.
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

// Lapse waits until a bot has a deadline, and lets the earliest one pass. It
// returns the error of ctx if that ends first. It must not be called on a nil
// Clock.
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

// WithTimeout is context.WithTimeout by this clock.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if c == nil {
		return context.WithTimeout(parent, d)
	}
	ctx, cancel := context.WithCancel(parent)
	stop := c.afterFunc(d, func(time.Time) { cancel() })
	return ctx, func() { stop(); cancel() }
}

// afterFunc calls fire when d has passed, unless stop is called first.
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
