package broker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lookEvery limits how often a busy process looks at the outbox of every
// partition. Between two looks it claims only the jobs that it stored itself.
const lookEvery = 20 * time.Millisecond

// agenda remembers which partitions have jobs that this process stored, and when
// the next job of any process is due. A look at every partition costs one command
// each, so that a process that looked before each claim would spend most of its
// commands on it. It is safe for concurrent use.
type agenda struct {
	mu     sync.Mutex
	stored []int     // partitions with new jobs of this process, the oldest first
	looked time.Time // when the last look at every partition began; zero for never
	next   time.Time // when the next job that the look found is due; zero for none
	stale  bool      // jobs were stored after the look
}

// add notes that a job of a partition may be due.
func (a *agenda) add(partition int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stale = true
	if !slices.Contains(a.stored, partition) {
		a.stored = append(a.stored, partition)
	}
}

// take returns the noted partitions and forgets them. It returns false if the
// caller must look at every partition instead.
func (a *agenda) take(now time.Time) ([]int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.stored) == 0 || now.Sub(a.looked) >= lookEvery {
		return nil, false
	}
	taken := a.stored
	a.stored = nil
	return taken, true
}

// look begins a look at every partition. Jobs that are stored from now on are
// noted again.
func (a *agenda) look(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored, a.looked, a.next, a.stale = nil, now, time.Time{}, false
}

// expect notes when the next job is due.
func (a *agenda) expect(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next.IsZero() || at.Before(a.next) {
		a.next = at
	}
}

// rest returns how long a worker without jobs may sleep, at most d.
func (a *agenda) rest(now time.Time, d time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.stored) > 0 {
		return 0
	}
	if a.stale || a.looked.IsZero() {
		d = min(d, a.looked.Add(lookEvery).Sub(now))
	}
	if !a.next.IsZero() {
		d = min(d, a.next.Sub(now))
	}
	return max(d, 0)
}

// dueJobs returns the partitions that may have due jobs.
func (c *core) dueJobs(ctx context.Context) ([]int, error) {
	began := time.Now()
	if noted, ok := c.agenda.take(began); ok {
		return noted, nil
	}
	c.agenda.look(began)
	next, now, err := c.earliest(ctx, c.keys.outbox)
	if err != nil {
		return nil, err
	}
	for _, at := range next {
		if at > float64(now.UnixMilli()) {
			c.agenda.expect(began.Add(time.UnixMilli(int64(at)).Sub(now)))
		}
	}
	return dueBy(next, now), nil
}
