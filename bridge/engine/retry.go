package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

const (
	otherAttempts = 40 // number of attempts at work without a card, about 30 minutes
	firstBackoff  = 250 * time.Millisecond
	maxBackoff    = time.Minute
	longestPause  = time.Hour // longest wait that a response of a platform can require
	// lastTry is the time before the deadline at which nod makes the last
	// attempt to show a request. For a short request, it is a tenth of the
	// timeout.
	lastTry = 2 * time.Second
	// withholdEach is the number of failed attempts after which nod draws a
	// card without the text of its request, because the service may accept
	// that. nod does this again after every withholdEach attempts.
	withholdEach = 6
	// lateAfter is the time without a card after which a request shows that it
	// is late.
	lateAfter = 5 * time.Second
)

// transient reports whether a job may succeed if it is repeated. A refusal of
// the account is transient, because the adapter checks the account again, and
// reports the platform as down if the account is refused again.
func transient(err error) bool {
	if _, never := errors.AsType[Hopeless](err); never {
		return false
	}
	code := bridge.ErrorCode(err)
	return code == bridge.CodeUnavailable || code == bridge.CodeRateLimited || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, bridge.ErrRefused)
}

// failed retries or gives up a job that failed with cause.
func (w *dispatcher) failed(ctx context.Context, j core.Job, cause error) error {
	if j.Kind == life.JobPost || j.Kind == life.JobEdit {
		return w.cardFailed(ctx, j, cause)
	}
	if transient(cause) && (j.Attempt < otherAttempts || bridge.ErrorCode(cause) == bridge.CodeRateLimited) {
		return w.again(ctx, j, delayAfter(j, cause), cause)
	}
	w.log.Error("delivery failed", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "error", cause)
	if worker := w.seams.worker(j.Kind); worker != nil && worker.GaveUp != nil {
		if err := worker.GaveUp(ctx, j, w.redactor.Text(bridge.PublicError(cause).Plain())); err != nil {
			return err
		}
	}
	return w.outbox.Bury(ctx, j, w.redactor.Text(cause.Error()))
}

// cardFailed retries or gives up the post or the edit of a card. An edit of a
// card that shows its request is retried without limit, because otherwise its
// buttons would stay. Any other card is retried only as long as the request can
// be answered there.
func (w *dispatcher) cardFailed(ctx context.Context, j core.Job, cause error) error {
	r, err := w.recordOf(ctx, j)
	if bridge.ErrorCode(err) == bridge.CodeNotFound { // the record has expired
		return w.outbox.Bury(ctx, j, w.redactor.Text(cause.Error()))
	}
	if err != nil {
		return err
	}
	if !transient(cause) {
		return w.giveUp(ctx, j, r, cause)
	}
	delay := delayAfter(j, cause)
	if r.State.Final() || j.Kind == life.JobEdit && Shows(r, j.Destination) {
		return w.again(ctx, j, delay, cause)
	}
	left, last := timeFor(r.Interaction)
	if left <= last || named(cause) > left {
		return w.giveUp(ctx, j, r, cause)
	}
	if left-delay < last {
		delay = left - last
	}
	if err := w.late(ctx, j, r, delay, cause); err != nil {
		return err
	}
	return w.again(ctx, j, delay, cause)
}

// withholds reports whether nod should draw a card without the text of its
// request after the complete card could not be drawn. A card that already shows
// a pending request stays.
func withholds(j core.Job, r bridge.Record, err error) bool {
	if r.Interaction.Kind == bridge.KindNotice || madeProgress(err) || !r.State.Final() && Shows(r, j.Destination) {
		return false
	}
	switch bridge.ErrorCode(err) {
	case bridge.CodeUnavailable:
		return j.Attempt%withholdEach == 0
	case bridge.CodeInvalid, bridge.CodeUnsupported: // a pending request is then undeliverable at this destination
		return r.State.Final()
	}
	return false
}

// timeFor returns the remaining time to show a request, and the part of it that
// is reserved for the last attempt.
func timeFor(i bridge.Interaction) (left, last time.Duration) {
	until := i.Deadline
	if i.OnTimeout == bridge.OnTimeoutPending {
		until = until.Add(time.Duration(i.Hold))
	}
	return time.Until(until), min(lastTry, until.Sub(i.Created)/10)
}

// named returns the time to wait that a platform requested. It is zero if nod
// chose the time itself.
func named(cause error) time.Duration {
	if pe, ok := errors.AsType[*bridge.Error](cause); ok && !errors.Is(cause, bridge.ErrPaced) {
		return pe.RetryAfter
	}
	return 0
}

// again retries a job. The attempt counts unless it could not start yet, or has
// sent a part.
func (w *dispatcher) again(ctx context.Context, j core.Job, delay time.Duration, cause error) error {
	switch {
	case errors.Is(cause, bridge.ErrPaced):
		return w.outbox.Retry(ctx, j, delay, "")
	case madeProgress(cause):
		w.log.Warn("delivery continues", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "in", delay, "reason", cause)
		return w.outbox.Retry(ctx, j, delay, "")
	}
	return w.outbox.Retry(ctx, j, delay, w.redactor.Text(cause.Error()))
}

// delayAfter returns the delay before a job that failed with cause is retried.
func delayAfter(j core.Job, cause error) time.Duration {
	pe, known := errors.AsType[*bridge.Error](cause)
	if errors.Is(cause, bridge.ErrPaced) {
		delay := jobRenew
		if known {
			delay = pe.RetryAfter
		}
		return bridge.AskAgain(delay)
	}
	delay := min(firstBackoff<<min(j.Attempt-1, 10), maxBackoff)
	if madeProgress(cause) {
		delay = firstBackoff
	}
	if known {
		delay = max(delay, min(pe.RetryAfter, longestPause))
	}
	return delay
}

// late records a delay of a card that is long enough for people to notice.
func (w *dispatcher) late(ctx context.Context, j core.Job, r bridge.Record, delay time.Duration, cause error) error {
	if pe, ok := errors.AsType[*bridge.Error](cause); ok && errors.Is(cause, bridge.ErrPaced) {
		delay = pe.RetryAfter
	}
	if Shows(r, j.Destination) || time.Since(r.Interaction.Created)+delay < lateAfter {
		return nil
	}
	late := life.Late{Destination: j.Destination, Delay: delay}
	_, err := w.records.Mark(ctx, j.Interaction, late)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	return err
}

// refused reports whether a platform refused a card because of its rate limit,
// before any part was sent.
func refused(err error) bool {
	return bridge.ErrorCode(err) == bridge.CodeRateLimited && !errors.Is(err, bridge.ErrPaced) && !madeProgress(err)
}

// giveUp ends a job that cannot succeed. An outcome that cannot be drawn is sent as a
// reply.
func (w *dispatcher) giveUp(ctx context.Context, j core.Job, r bridge.Record, cause error) error {
	w.log.Error("delivery failed", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "error", cause)
	if j.Kind == life.JobEdit && r.State.Final() {
		if err := w.lost.tell(ctx, r, j.Destination); err != nil {
			w.log.Error("outcome not shown", "id", j.Interaction, "destination", j.Destination, "error", err)
		}
	}
	if err := w.fail(ctx, j, r, w.redactor.Text(bridge.PublicError(cause).Plain())); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
		return err
	}
	return w.outbox.Bury(ctx, j, w.redactor.Text(cause.Error()))
}

// recordOf returns the record that the message of a job shows.
func (w *dispatcher) recordOf(ctx context.Context, j core.Job) (bridge.Record, error) {
	r, err := w.records.Load(ctx, j.Interaction)
	if err == nil && j.Kind == life.JobEdit && r.Next != "" {
		r, err = w.cards.head(ctx, r)
	}
	return r, err
}

// fail records a failed destination. A message that has already shown its
// request in full does not count as a failure.
func (w *dispatcher) fail(ctx context.Context, j core.Job, r bridge.Record, reason string) error {
	if j.Kind == life.JobEdit && (r.State.Final() || Shows(r, j.Destination)) {
		return nil
	}
	if _, err := w.records.Mark(ctx, r.Interaction.ID, failure(r.Interaction, r.Step, j.Destination, reason)); err != nil {
		return err
	}
	if r.Interaction.Kind == bridge.KindNotice && len(r.Messages) > 0 {
		return w.noticed(ctx, j.Interaction)
	}
	return cardFailed(ctx, w.records, j.Interaction, j.Destination)
}

// failure returns the event that no card can appear at a destination.
func failure(i bridge.Interaction, step, destination int, reason string) life.Failed {
	return life.Failed{Destination: destination, Reason: reason, Later: i.OnTimeout == bridge.OnTimeoutEscalate &&
		slices.ContainsFunc(i.Steps[min(step, len(i.Steps)):], func(s bridge.Step) bool { return s.Route != "" })}
}

// progress marks the error of a job that sent a part before it failed.
type progress struct{ error }

func (p progress) Unwrap() error { return p.error }

// progressed marks the error of a job that sent more parts than before.
func progressed(err error, before int, parts *bridge.Parts) error {
	if err == nil || len(parts.Sent()) == before {
		return err
	}
	return progress{err}
}

func madeProgress(err error) bool {
	_, ok := errors.AsType[progress](err)
	return ok
}
