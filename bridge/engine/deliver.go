// Path of a click and of a request: do.go of broker/redis → this file → the card of an
// adapter, such as message.go of render/slackmsg.

package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

const (
	jobLease       = 5 * time.Second // delay of the jobs of a dead process; a live process renews the lease
	jobRenew       = 1500 * time.Millisecond
	jobTimeout     = 20 * time.Second // limit for the calls of the platform
	resultTimeout  = 4 * time.Second  // limit for recording the result, within the lease
	jobsAtOnce     = 64
	outboxPoll     = time.Second         // maximum delay until a daemon notices the job of a dead process
	sessionThreads = 30 * 24 * time.Hour // how long the thread of a session is remembered
)

// dispatcher processes the jobs of the outbox.
type dispatcher struct {
	outbox    core.Outbox
	records   core.Interactions
	seams     *Seams
	platforms platforms
	cards     *cards
	threads   *threads
	lost      *lostCards
	watcher   Watcher
	redactor  *Redactor
	log       *slog.Logger
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

func (w *dispatcher) work(ctx context.Context, j bridge.Job) {
	// A running job is completed even if the daemon is shutting down.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTimeout)
	defer cancel()
	var renewal sync.WaitGroup
	defer renewal.Wait()
	defer cancel()
	renewal.Go(func() { w.keepJob(ctx, cancel, j) })
	if err := w.do(ctx, j); err != nil {
		w.log.Warn("job not updated, its lease will expire", "job", j.ID, "id", j.Interaction, "error", err)
	}
}

// do processes a job and records the result. A card that is refused because of
// a rate limit keeps its place, because the limit also delays the cards behind
// it.
func (w *dispatcher) do(ctx context.Context, j bridge.Job) error {
	var err error
	switch worker := w.seams.worker(j.Kind); {
	case worker != nil:
		err = worker.Work(ctx, j)
	case j.Kind == bridge.JobPost:
		err = w.post(ctx, j)
		j.Stays = refused(err)
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

// keepJob renews the lease of a job until ctx ends. It stops the work once
// another process may have taken over the job: when another process has it, or
// when the last successful renewal is one lease old.
func (w *dispatcher) keepJob(ctx context.Context, stop func(), j bridge.Job) {
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

func (w *dispatcher) post(ctx context.Context, j bridge.Job) error {
	r, err := w.records.Load(ctx, j.Interaction)
	if err != nil {
		return err
	}
	p, err := w.platforms.of(r, j.Destination)
	if err != nil || r.State.Final() {
		return err
	}
	if ref, posted := r.Messages[j.Destination]; posted { // an earlier attempt was interrupted
		if err := w.posted(ctx, r, j.Destination, ref); err != nil {
			return err
		}
		return w.cards.drawAgain(ctx, r, j.Destination)
	}
	if err := bridge.Usable(p); err != nil {
		return err
	}
	d, err := w.threads.place(ctx, r, j.Destination, p)
	if err != nil {
		return err
	}
	view, err := w.cards.shown(ctx, r, j.Destination)
	if err != nil {
		return err
	}
	began := time.Now()
	parts := w.cards.parts(view)
	before := len(parts.Sent())
	ref, err := p.Post(ctx, d, view, parts)
	w.watcher.Did(j, p.Name(), r, began, err)
	err = progressed(err, before, parts)
	shown := r.Interaction.Content
	if withholds(j, r, err) {
		other, failed := p.Post(ctx, d, view.Withhold(bridge.PublicError(err).Hint), parts)
		if failed == nil {
			w.log.Warn("card shown without its request", "id", j.Interaction, "destination", j.Destination, "error", err)
			ref, err, shown = other, nil, ""
		}
	}
	if err != nil {
		return err
	}
	ctx, cancel := forResult(ctx)
	defer cancel()
	// First, because people can reply to a recorded card.
	if err := w.threads.takesReplies(ctx, r, j.Destination, ref); err != nil {
		return err
	}
	if err := w.cards.mark(ctx, r, j.Destination, ref, shown); err != nil {
		return err
	}
	if err := w.posted(ctx, r, j.Destination, ref); err != nil {
		return err
	}
	if shown != r.Interaction.Content {
		return w.cards.drawAgain(ctx, r, j.Destination)
	}
	return w.cards.redrawn(ctx, view)
}

// posted records the thread of a recorded card's session, and updates other
// cards that mention the card. It can be repeated.
func (w *dispatcher) posted(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	if err := w.threads.start(ctx, r, destination, ref); err != nil {
		return err
	}
	if err := w.cards.linkBack(ctx, r); err != nil {
		return err
	}
	w.seams.shown(ctx, r.Interaction)
	if r.Interaction.Kind == bridge.KindNotice {
		return w.noticed(ctx, r.Interaction.ID)
	}
	return nil
}

// noticed closes a notice once every reachable destination has shown it.
func (w *dispatcher) noticed(ctx context.Context, id bridge.ID) error {
	r, err := w.records.Load(ctx, id)
	if err != nil {
		return err
	}
	for n := range r.Interaction.Destinations {
		_, posted := r.Messages[n]
		if _, failed := r.Failures[n]; !posted && !failed {
			return nil // the post job of that destination checks again
		}
	}
	_, _, err = w.records.Settle(ctx, bridge.Settlement{ID: id, Nonce: "shown", Response: bridge.Response{
		State: bridge.StateAnswered, Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
	}})
	return err
}

// update brings a message up to date. A message that a follow-up took over
// shows the last follow-up.
func (w *dispatcher) update(ctx context.Context, j bridge.Job) error {
	r, err := w.recordOf(ctx, j)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil // the record has expired
	}
	if err != nil {
		return err
	}
	p, err := w.platforms.of(r, j.Destination)
	if err != nil {
		return err
	}
	ref, posted := r.Messages[j.Destination]
	if !posted || r.Interaction.Kind == bridge.KindNotice && !r.Interaction.IsSession() {
		return nil // the post shows the newest state, and a notice has only one state
	}
	view, err := w.cards.shown(ctx, r, j.Destination)
	if err != nil {
		return err
	}
	began := time.Now()
	parts := w.cards.parts(view)
	before := len(parts.Sent())
	err = p.Update(ctx, ref, view, parts)
	w.watcher.Did(j, p.Name(), r, began, err)
	err = progressed(err, before, parts)
	if withholds(j, r, err) {
		failed := p.Update(ctx, ref, view.Withhold(bridge.PublicError(err).Hint), parts)
		if failed == nil && r.State.Final() {
			w.log.Error("outcome shown without its request", "id", j.Interaction, "destination", j.Destination, "error", err)
			err = nil
		}
	}
	if err != nil {
		return err
	}
	ctx, cancel := forResult(ctx)
	defer cancel()
	if r.State.Final() {
		w.seams.shown(ctx, r.Interaction)
	}
	if err := w.cards.markShown(ctx, view); err != nil {
		return err
	}
	return w.cards.redrawn(ctx, view)
}
