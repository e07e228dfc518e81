package bridge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	// decideFor is the time that OnTimeout has to decide. If the process of the
	// tool ends before it has decided, the question expires after that time.
	decideFor = 10 * time.Minute
	// windUp limits the calls after the context of a tool has ended.
	windUp = 5 * time.Second
	// reasonGone is the reason for cancelling a request whose tool no longer
	// waits.
	reasonGone = "the agent stopped waiting"
)

// RequestInteraction asks people and passes each response to the handlers, for
// as many rounds as they need. It returns the result of Complete, or a
// PendingResult. An error is an *EndedError, or an error from a handler, from
// ctx or from the asker. If ctx ends while it waits, it closes the interaction
// and calls OnCancel.
//
// The handlers keep session and always approvals themselves; see
// [ToolApprovals]. nod neither creates nor uses grants for these approvals.
func RequestInteraction(ctx context.Context, a Asker, r Request, h Handlers) (any, error) {
	if h.OnResponse == nil {
		return nil, Errorf(CodeInvalid, "handlers.OnResponse: required")
	}
	r = toolsOwn(r)
	t := talk{Asker: a, h: h, caller: cmp.Or(r.CallID.Caller, uuid.NewString())}
	r.CallID.Caller = t.caller
	if h.OnTimeout != nil && r.Session != "" && (r.OnTimeout == "" || r.OnTimeout == OnTimeoutExpire) {
		t.hold = cmp.Or(r.Hold, Duration(DefaultHold))
		r.OnTimeout, r.Hold = OnTimeoutPending, Duration(decideFor)
	}
	rec, err := t.open(ctx, func(ctx context.Context) (Record, error) { return a.Open(ctx, r, "") })
	for err == nil {
		var again *Reprompt
		var result any
		if again, result, err = t.round(ctx, rec.Interaction.ID); err != nil || again == nil {
			return result, err
		}
		next := toolsOwn(again.Request)
		next.Timeout, next.CallID.Caller = cmp.Or(next.Timeout, r.Timeout), t.caller
		id := rec.Interaction.ID
		rec, err = t.open(ctx, func(ctx context.Context) (Record, error) { return a.Reprompt(ctx, id, next, "") })
	}
	return nil, err
}

// talk is one call of RequestInteraction.
type talk struct {
	Asker
	h      Handlers
	caller string   // see CallID
	hold   Duration // hold time of a Pending without one; zero means the time of the request
}

// Linger returns a context for a call that may have an effect although ctx has
// ended. The new context ends d after ctx. The caller must call stop.
func Linger(ctx context.Context, d time.Duration) (lingering context.Context, stop func()) {
	lingering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := context.AfterFunc(ctx, func() {
		if Pause(lingering, d) {
			cancel()
		}
	})
	return lingering, func() {
		ended()
		cancel()
	}
}

// open opens a round. If ctx ends in the meantime, it closes the round again,
// because the round may be stored.
func (t talk) open(ctx context.Context, open func(context.Context) (Record, error)) (Record, error) {
	if ctx.Err() != nil {
		return Record{}, t.cancelled(ctx, "")
	}
	lingering, stop := Linger(ctx, windUp)
	defer stop()
	rec, err := open(lingering)
	if ctx.Err() != nil {
		return rec, t.cancelled(ctx, rec.Interaction.ID)
	}
	return rec, err
}

// cancelled closes the request with an ID, if any, after ctx has ended.
func (t talk) cancelled(ctx context.Context, id ID) error {
	err := ctx.Err()
	if id != "" {
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), windUp)
		defer stop()
		if _, failed := t.Leave(late, id, t.caller, reasonGone); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if t.h.OnCancel != nil {
		t.h.OnCancel()
	}
	return err
}

// round waits for the answer and carries out the outcome of the handlers. It
// returns a request for another round, or the result.
func (t talk) round(ctx context.Context, id ID) (*Reprompt, any, error) {
	rec, err := t.Wait(ctx, id)
	if err != nil && ctx.Err() != nil {
		return nil, nil, t.cancelled(ctx, id)
	}
	if err != nil {
		return nil, nil, err
	}
	outcome, failed := t.h.apply(ctx, rec)
	// The decision of the handlers is carried out even if ctx has ended since.
	late, stop := Linger(ctx, windUp)
	defer stop()
	if ended, ok := errors.AsType[*EndedError](failed); ok {
		return nil, nil, ended
	}
	if failed != nil {
		_, err := t.Complete(late, id, Completion{Error: PublicText(failed)})
		return nil, nil, errors.Join(failed, err)
	}
	switch o := outcome.(type) {
	case Complete:
		_, err := t.Complete(late, id, Completion{Result: o.Shown})
		return nil, o.Result, err
	case Pending:
		again := o.Message // shown if the question is asked again
		if !rec.State.Final() {
			again = "" // the question stays the same, even if someone answered it in the meantime
		}
		rec, err = t.Queue(late, id, cmp.Or(o.Hold, t.hold), again)
		if err != nil {
			return nil, nil, err
		}
		return nil, PendingResult{Pending: true, Queued: true, Message: o.Message, Interaction: rec.Interaction.ID}, nil
	case Reprompt:
		return &o, nil, nil
	}
	return nil, nil, Errorf(CodeInternal, "the handler returned no outcome")
}

// toolsOwn returns the request with an approval that the tool remembers itself.
// If every platform is down, the tool gets an error immediately.
func toolsOwn(r Request) Request {
	r.Now = true
	if r.Approval != nil {
		a := *r.Approval
		a.AgentRemembers = true
		r.Approval = &a
	}
	return r
}

// apply calls the handler for the state of the record.
func (h Handlers) apply(ctx context.Context, rec Record) (Outcome, error) {
	var outcome Outcome
	var err error
	switch resp := rec.Response; {
	case (!rec.State.Final() || rec.State == StateExpired) && h.OnTimeout != nil:
		outcome, err = h.OnTimeout(ctx)
	case !rec.State.Final(): // deferred by the on_timeout rule
		return Pending{Message: "queued"}, nil
	case resp != nil && resp.Action() != "" && (resp.Actor != nil || rec.State == StateAnswered || rec.State == StateDenied):
		outcome, err = h.OnResponse(ctx, UserResponse{Action: resp.Action(), Scope: resp.Scope, Input: resp.Answers, Reason: resp.Reason, Record: rec})
	default:
		if rec.State == StateCancelled && h.OnCancel != nil {
			h.OnCancel()
		}
		return nil, &EndedError{Record: rec}
	}
	if err == nil && outcome == nil {
		err = Errorf(CodeInternal, "the handler returned no outcome")
	}
	return outcome, err
}

// PublicText returns the part of an error that people may read.
func PublicText(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return inWords.Replace(err.Error())
}

// inWords replaces the Go error texts about the end of a context.
var inWords = strings.NewReplacer(context.Canceled.Error(), "cancelled", context.DeadlineExceeded.Error(), "no answer in time")
