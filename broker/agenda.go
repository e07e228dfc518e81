package broker

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// claimEvery is the minimum time between two claims of a process that found no
// more jobs. It limits what a process claims in vain while it stores many jobs
// that are not due yet.
const claimEvery = 5 * time.Millisecond

// agenda remembers when the next job of any process is due, as far as this
// process knows. It is safe for concurrent use.
type agenda struct {
	mu      sync.Mutex
	claimed time.Time // when the last claim began; zero for never
	next    time.Time // zero for none
}

// claim notes that a claim begins. What is known of later jobs comes from it.
func (a *agenda) claim(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claimed, a.next = now, time.Time{}
}

// expect notes when the next job is due.
func (a *agenda) expect(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next.IsZero() || at.Before(a.next) {
		a.next = at
	}
}

// rest returns how long a worker without jobs sleeps unless this process stores
// some, at most d, and how long it sleeps in any case.
func (a *agenda) rest(now time.Time, d time.Duration) (most, least time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.next.IsZero() {
		d = min(d, a.next.Sub(now))
	}
	least = max(0, claimEvery-now.Sub(a.claimed))
	return max(d, least), least
}

// Wait implements bridge.Outbox. It also returns when the next job of any process
// is due, as far as this process knows.
func (ob *outbox) Wait(ctx context.Context, d time.Duration) {
	most, least := ob.agenda.rest(time.Now(), d)
	if !bridge.Pause(ctx, least) {
		return
	}
	t := time.NewTimer(most - least)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-ob.nudge:
	case <-t.C:
	}
}
