package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

const (
	jobLease   = 5 * time.Second // delay of the jobs of a dead process; a live process renews the lease
	jobRenew   = 1500 * time.Millisecond
	jobsAtOnce = 192
	// callsAtOnce is the maximum number of jobs in progress on one platform. It leaves
	// slots for the others if calls hang, and suffices for 50 calls per second.
	callsAtOnce = jobsAtOnce / 3
	outboxPoll  = time.Second // maximum delay until a daemon notices the job of a dead process
)

// callSlots returns a channel for each platform that limits its calls in progress.
func callSlots(all platforms) map[string]chan struct{} {
	out := map[string]chan struct{}{}
	for name := range all {
		out[name] = make(chan struct{}, callsAtOnce)
	}
	return out
}

// errNoSlot means that a platform has too many jobs in progress.
var errNoSlot = errors.New("too many jobs in progress")

// slot takes a slot of a platform for a job that calls it, or returns an error after
// which the job is due again. The caller must call done.
func (w *dispatcher) slot(platform string) (done func(), err error) {
	select {
	case w.calls[platform] <- struct{}{}:
		return func() { <-w.calls[platform] }, nil
	default:
		e := bridge.Wrap(bridge.CodeUnavailable, errors.Join(bridge.ErrPaced, errNoSlot), "too many calls of %s are in progress", platform)
		e.RetryAfter = outboxPoll
		return nil, e
	}
}

// run hands jobs to goroutines until ctx ends.
func (w *dispatcher) run(ctx context.Context) {
	slots := make(chan struct{}, jobsAtOnce)
	var wg sync.WaitGroup
	defer wg.Wait()
	for ctx.Err() == nil {
		slots <- struct{}{} // waits until at least one slot is free
		<-slots
		free := jobsAtOnce - len(slots)
		jobs, err := w.outbox.Claim(ctx, free, jobLease)
		if err != nil {
			if ctx.Err() == nil {
				w.log.Warn("outbox unreachable", "error", err)
			}
			bridge.Pause(ctx, time.Second)
			continue
		}
		for _, j := range jobs {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				w.work(ctx, j)
			})
		}
		if len(jobs) < free {
			w.outbox.Wait(ctx, outboxPoll)
		}
	}
}

// keepJob renews the lease of a job until ctx ends. It stops the work if
// another process has taken over the job, or may have done so because the last
// successful renewal is one lease old.
func (w *dispatcher) keepJob(ctx context.Context, stop func(), j core.Job) {
	ends := time.Now().Add(jobLease)
	for bridge.Pause(ctx, min(jobRenew, time.Until(ends))) {
		began := time.Now()
		renewal, cancel := context.WithDeadline(ctx, ends)
		held, err := w.outbox.Extend(renewal, j, jobLease)
		cancel()
		if err == nil && held {
			ends = began.Add(jobLease)
		} else if err == nil || !time.Now().Before(ends) {
			w.log.Warn("job lease lost", "job", j.ID, "error", err)
			stop()
			return
		}
	}
}
