package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	postAttempts = 6  // about 8 s of transient errors; patient allows more
	editAttempts = 40 // about 30 minutes, after which the job becomes a dead letter
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = time.Minute
	longestPause = time.Hour // that a response of a platform can require
)

// failed retries or gives up a job that failed with cause.
func (w *dispatcher) failed(ctx context.Context, j bridge.Job, cause error) error {
	code := bridge.ErrorCode(cause)
	transient := code == bridge.CodeUnavailable || code == bridge.CodeRateLimited || errors.Is(cause, context.DeadlineExceeded)
	limit := editAttempts
	if j.Kind == bridge.JobPost {
		limit = postAttempts
	}
	if transient && (j.Attempt < limit || code == bridge.CodeRateLimited || madeProgress(cause) || w.patient(ctx, j)) {
		delay := delayAfter(j, cause)
		switch {
		case errors.Is(cause, bridge.ErrPaced):
			return w.postpone(ctx, j, cause)
		case madeProgress(cause): // the attempt does not count
			w.log.Warn("delivery continues", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "in", delay, "reason", cause)
			return w.outbox.Retry(ctx, j, delay, "")
		}
		return w.outbox.Retry(ctx, j, delay, cause.Error())
	}
	w.log.Error("delivery failed", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "error", cause)
	if j.Kind == bridge.JobPost || j.Kind == bridge.JobEdit {
		if err := w.giveUp(ctx, j, bridge.PublicError(cause).Message); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return w.outbox.Bury(ctx, j, cause.Error())
}

// delayAfter returns the delay before a job that failed with cause is retried.
func delayAfter(j bridge.Job, cause error) time.Duration {
	delay := min(firstBackoff<<min(j.Attempt-1, 10), maxBackoff)
	if madeProgress(cause) {
		delay = firstBackoff
	}
	if pe, ok := errors.AsType[*bridge.Error](cause); ok {
		delay = max(delay, min(pe.RetryAfter, longestPause))
	}
	return delay
}

// delayShown is the minimum delay of a card that nod shows to people who look
// at the request.
const delayShown = 5 * time.Second

// postpone makes a job due when the rate limit allows it, and records the delay
// of a card.
func (w *dispatcher) postpone(ctx context.Context, j bridge.Job, cause error) error {
	delay := jobRenew
	if pe, ok := errors.AsType[*bridge.Error](cause); ok {
		delay = pe.RetryAfter
	}
	if j.Kind == bridge.JobPost && delay >= delayShown {
		late := bridge.Late{Destination: j.Destination, Delay: delay}
		if _, err := w.records.Mark(ctx, j.Interaction, bridge.Mark{Late: &late}); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return w.outbox.Retry(ctx, j, bridge.AskAgain(delay), "")
}

// refused reports whether a platform refused a card because of its rate limit
// before it took any part of it.
func refused(err error) bool {
	return bridge.ErrorCode(err) == bridge.CodeRateLimited && !errors.Is(err, bridge.ErrPaced) && !madeProgress(err)
}

// giveUp records a failed destination. A message that has shown its request in
// full does not count as failed.
func (w *dispatcher) giveUp(ctx context.Context, j bridge.Job, reason string) error {
	r, err := w.records.Load(ctx, j.Interaction)
	if err == nil && j.Kind == bridge.JobEdit && r.Next != "" {
		r, err = w.cards.head(ctx, r)
	}
	if err != nil {
		return err
	}
	if j.Kind == bridge.JobEdit && (r.State.Final() || seen(r, j.Destination)) {
		return nil
	}
	i := r.Interaction
	failed := bridge.Failed{Destination: j.Destination, Reason: reason, Later: i.OnTimeout == bridge.OnTimeoutEscalate &&
		slices.ContainsFunc(i.Steps[min(r.Step, len(i.Steps)):], func(s bridge.Step) bool { return s.Route != "" })}
	if _, err := w.records.Mark(ctx, i.ID, bridge.Mark{Failed: &failed}); err != nil {
		return err
	}
	if r.Interaction.Kind == bridge.KindNotice && len(r.Messages) > 0 {
		return w.noticed(ctx, j.Interaction)
	}
	return nil
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

// patient reports whether a job continues after its last regular attempt. nod
// keeps trying to deliver a card that no one has seen yet, or the rest of a
// text that people have seen in part, for half of the request's time, because
// most outages of a platform are shorter than that.
func (w *dispatcher) patient(ctx context.Context, j bridge.Job) bool {
	r, err := w.records.Load(ctx, j.Interaction)
	if err != nil || j.Kind != bridge.JobPost && len(r.Sending[j.Destination].Parts) == 0 {
		return false
	}
	i := r.Interaction
	return time.Since(i.Created) < i.Deadline.Sub(i.Created)/2
}

func madeProgress(err error) bool {
	_, ok := errors.AsType[progress](err)
	return ok
}
