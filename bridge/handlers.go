package bridge

import (
	"context"
	"errors"
)

// UserResponse is what a human did with an interaction.
type UserResponse struct {
	// Action is approve, deny, submit or cancel.
	Action string
	// Scope of an approval.
	Scope Scope
	// Input is the answers to an ask, by question id.
	Input  map[string]Answer
	Reason string
	// Record is the interaction as it ended: who answered, where, when.
	Record Record
}

// Outcome is what a tool does with a response: [Complete], [Reprompt] or
// [Pending].
type Outcome interface{ outcome() }

// Complete finishes: Result is what RequestInteraction returns.
type Complete struct {
	Result any
	// Shown is put below the answer on the card; empty: nothing.
	Shown string
}

// Reprompt asks again, in the same messages. What Request leaves out stays as
// it was; its Error says what was wrong.
type Reprompt struct{ Request Request }

// Pending lets the agent go on: RequestInteraction returns a [PendingResult],
// the question stays open, and a late answer becomes a message to the session.
type Pending struct {
	Message string
	Hold    Duration // how long it stays open; 0: as the request said
}

func (Complete) outcome() {}
func (Reprompt) outcome() {}
func (Pending) outcome()  {}

// PendingResult tells the agent that the answer comes later.
type PendingResult struct {
	Pending bool   `json:"pending"`
	Queued  bool   `json:"queued"`
	Message string `json:"message,omitempty"`
	// Interaction is what stays open.
	Interaction ID `json:"interaction"`
}

// Handlers are a tool's own logic around an interaction. Validation belongs
// into OnResponse, as a Reprompt; an error from a handler means that the tool
// failed, and people are shown that.
type Handlers struct {
	// OnResponse is called with each answer.
	OnResponse func(context.Context, UserResponse) (Outcome, error)
	// OnTimeout is called when nobody answered in time; nil: that is an
	// [EndedError].
	OnTimeout func(context.Context) (Outcome, error)
	// OnCancel is called when the interaction was withdrawn; may be nil.
	OnCancel func()
}

// ErrInteractionUnavailable matches the error of an interaction that nobody
// could have answered: no platform connected, no front end enabled.
var ErrInteractionUnavailable = errors.New("interaction_unavailable")

// EndedError is the end of an interaction that brought no response.
type EndedError struct{ Record Record }

// Error says how it ended.
func (e *EndedError) Error() string {
	s := "the interaction ended: " + string(e.Record.State)
	if r := e.Record.Response; r != nil && r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}

// Is matches ErrInteractionUnavailable where nobody could be reached.
func (e *EndedError) Is(target error) bool {
	return target == ErrInteractionUnavailable && e.Record.State == StateUndeliverable
}

// ToolContext is what a tool's handler knows of the call it works on.
type ToolContext struct {
	Asker
	Session, ToolCall, ToolName, Turn, ResponseID string
}

// RequestInteraction is [RequestInteraction] for the call: what the request
// leaves out of session and correlation is filled in.
func (t ToolContext) RequestInteraction(ctx context.Context, r Request, h Handlers) (any, error) {
	for _, f := range []struct {
		field *string
		value string
	}{{&r.Session, t.Session}, {&r.ToolCall, t.ToolCall}, {&r.ToolName, t.ToolName}, {&r.Turn, t.Turn}, {&r.ResponseID, t.ResponseID}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
	return RequestInteraction(ctx, t.Asker, r, h)
}

// Available reports whether anybody could answer the tool now.
func (t ToolContext) Available(ctx context.Context) (bool, error) {
	a, err := t.Availability(ctx, "", t.Session)
	return a.Available, err
}

// RequestInteraction asks a human and lets the handlers decide what the answer
// means, for as many rounds as they need. It returns the result of Complete, or
// a PendingResult. Errors are an *EndedError, what a handler returned, ctx's,
// or of the asker. When ctx ends, the interaction stays open.
//
// The handlers keep session and always approvals themselves, see
// [ToolApprovals]: nod gives and consults no grant.
func RequestInteraction(ctx context.Context, a Asker, r Request, h Handlers) (any, error) {
	if h.OnResponse == nil {
		return nil, Errorf(CodeInvalid, "handlers: OnResponse is nil")
	}
	rec, err := a.Open(ctx, toolsOwn(r), "")
	for {
		if err != nil {
			return nil, err
		}
		id := rec.Interaction.ID
		if rec, err = a.Wait(ctx, id); err != nil {
			return nil, err
		}
		outcome, failed := h.apply(ctx, rec)
		if ended, ok := errors.AsType[*EndedError](failed); ok {
			return nil, ended
		}
		if failed != nil {
			_, err := a.Complete(context.WithoutCancel(ctx), id, Completion{Error: PublicText(failed)})
			return nil, errors.Join(failed, err)
		}
		switch o := outcome.(type) {
		case Complete:
			_, err := a.Complete(ctx, id, Completion{Result: o.Shown})
			return o.Result, err
		case Pending:
			if rec.State.Final() {
				if rec, err = a.Queue(ctx, id, o.Hold, o.Message); err != nil {
					return nil, err
				}
			}
			return PendingResult{Pending: true, Queued: true, Message: o.Message, Interaction: rec.Interaction.ID}, nil
		case Reprompt:
			rec, err = a.Reprompt(ctx, id, toolsOwn(o.Request), "")
		}
	}
}

// toolsOwn is a request whose approval the tool remembers.
func toolsOwn(r Request) Request {
	if r.Approval != nil {
		a := *r.Approval
		a.AgentRemembers = true
		r.Approval = &a
	}
	return r
}

// apply calls the handler that fits.
func (h Handlers) apply(ctx context.Context, rec Record) (Outcome, error) {
	var outcome Outcome
	var err error
	switch resp := rec.Response; {
	case !rec.State.Final(): // queued by the server's own rule
		return Pending{Message: "queued"}, nil
	case rec.State == StateExpired && h.OnTimeout != nil:
		outcome, err = h.OnTimeout(ctx)
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

// PublicText is an error in words that people may read.
func PublicText(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return err.Error()
}
