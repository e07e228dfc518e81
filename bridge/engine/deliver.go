// Path of a click: do.go of broker/redis → this file → update.go.
// Path of a request: do.go of broker/redis → this file → post.go.

package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

const (
	jobTimeout    = 20 * time.Second // limit for the calls of the platform
	resultTimeout = 4 * time.Second  // limit for recording the result, within the lease
)

// work processes a job that this daemon has claimed (see run), and renews its
// lease in the meantime.
func (w *dispatcher) work(ctx context.Context, j core.Job) {
	// A running job is completed even if the daemon is shutting down.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTimeout)
	defer cancel()
	var renewal sync.WaitGroup
	defer renewal.Wait()
	defer cancel()
	renewal.Go(func() { w.keepJob(ctx, cancel, j) })
	if err := w.do(ctx, j); err != nil {
		w.log.Warn("job not updated; its lease will expire", "job", j.ID, "id", j.Interaction, "error", err)
	}
}

// do processes a job and records the result. A card that a rate limit refuses
// keeps its place in the queue, because the limit also delays the cards behind
// it.
func (w *dispatcher) do(ctx context.Context, j core.Job) error {
	var err error
	switch worker := w.seams.worker(j.Kind); {
	case worker != nil:
		err = worker.Work(ctx, j)
	case j.Kind == life.JobPost:
		err = w.post(ctx, j)
		j.KeepsPlace = refused(err) || errors.Is(err, errNoSlot)
	default:
		err = w.update(ctx, j)
	}
	if errors.Is(ctx.Err(), context.Canceled) { // another process may have the job
		return ctx.Err()
	}
	ctx, cancel := forResult(ctx)
	defer cancel()
	if later, ok := errors.AsType[Later](err); ok {
		return w.outbox.Retry(ctx, j, later.In, later.Reason)
	}
	if err == nil {
		return w.outbox.Finish(ctx, j)
	}
	return w.failed(ctx, j, err)
}

// forResult returns a context for recording the result of a platform call. The
// call may have used all the time of the job, or ended after its lease.
func forResult(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), resultTimeout)
}

// draw shows a view with a call of a platform. If the platform keeps refusing
// the text of the request, draw shows the view without the text, and sets
// withheld. The error is the error of the complete view. A platform with too many
// calls in progress gets the call later.
func (w *dispatcher) draw(
	j core.Job, r bridge.Record, p bridge.Platform, view bridge.View, call func(bridge.View, *bridge.Parts) error,
) (withheld bool, err error) {
	done, err := w.slot(p.Name())
	if err != nil {
		return false, err
	}
	defer done()
	began, parts := time.Now(), w.cards.parts(view)
	before := len(parts.Sent())
	err = call(view, parts)
	w.watcher.Did(j, p.Name(), r, began, err)
	err = progressed(err, before, parts)
	if withholds(j, r, err) {
		withheld = call(view.Withhold(bridge.PublicError(err).Hint), parts) == nil
	}
	return withheld, err
}
