package bridge

import (
	"context"
	"errors"
)

// UserResponse is a person's response to an interaction.
type UserResponse struct {
	// Action is approve, deny, submit or cancel.
	Action string
	// Scope is the scope of an approval.
	Scope Scope
	// Input holds the answers by question ID.
	Input  map[string]Answer
	Reason string
	// Record is the closed interaction, with the responder, the platform
	// and the time.
	Record Record
}

// Outcome is the reaction of a tool to a response: [Complete], [Reprompt] or
// [Pending].
type Outcome interface{ outcome() }

// Complete ends the exchange. RequestInteraction returns its Result.
type Complete struct {
	Result any
	// Shown is text to show below the answer on the card.
	Shown string
}

// Reprompt asks again in the same messages. Fields that Request leaves empty
// keep their values. Its Error describes what was wrong.
type Reprompt struct{ Request Request }

// Pending defers the question: RequestInteraction returns a [PendingResult],
// the question stays open, and a late answer goes to the session inbox.
type Pending struct {
	Message string
	Hold    Duration // how long it stays open; zero means as in the request
}

func (Complete) outcome() {}
func (Reprompt) outcome() {}
func (Pending) outcome()  {}

// PendingResult informs the agent that the question is deferred.
type PendingResult struct {
	Pending bool   `json:"pending"`
	Queued  bool   `json:"queued"`
	Message string `json:"message,omitempty"`
	// Interaction is the ID of the open interaction.
	Interaction ID `json:"interaction"`
}

// Handlers holds the callbacks of a tool for an interaction. OnResponse
// validates the answer and can return a Reprompt. An error from a handler means
// that the tool failed, which nod shows to people.
type Handlers struct {
	// OnResponse is called with each answer.
	OnResponse func(context.Context, UserResponse) (Outcome, error)
	// OnTimeout is called if no one answers in time. If it is nil,
	// RequestInteraction returns an [EndedError] instead.
	OnTimeout func(context.Context) (Outcome, error)
	// OnCancel is called when the interaction is cancelled. It may be nil.
	OnCancel func()
}

// ErrInteractionUnavailable matches the error of an interaction that no one
// could answer, because no platform was connected and no front end was enabled.
var ErrInteractionUnavailable = errors.New("interaction_unavailable")

// EndedError is the error of an interaction that ended without a response.
type EndedError struct{ Record Record }

// Error returns the final state and the reason.
func (e *EndedError) Error() string {
	s := "the interaction ended: " + string(e.Record.State)
	if r := e.Record.Response; r != nil && r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}

// Is reports whether target is ErrInteractionUnavailable and no one could be
// reached.
func (e *EndedError) Is(target error) bool {
	return target == ErrInteractionUnavailable && e.Record.State == StateUndeliverable
}

// ToolContext describes the tool call that a handler works on.
type ToolContext struct {
	Asker
	Session, ToolCall, ToolName, Turn, ResponseID string
}

// RequestInteraction is [RequestInteraction] for this call. It fills in the
// session and the correlation values that the request leaves empty.
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

// Available reports whether anyone could answer the tool now.
func (t ToolContext) Available(ctx context.Context) (bool, error) {
	a, err := t.Availability(ctx, "", t.Session)
	return a.Available, err
}

// RequestInteraction asks people and passes each response to the handlers, for
// as many rounds as they need. It returns the result of Complete, or a
// PendingResult. An error is an *EndedError, or the error of a handler, of ctx
// or of the asker. If ctx ends, the interaction stays open.
//
// The handlers keep session and always approvals themselves; see
// [ToolApprovals]. nod neither creates nor uses grants for them.
func RequestInteraction(ctx context.Context, a Asker, r Request, h Handlers) (any, error) {
	if h.OnResponse == nil {
		return nil, Errorf(CodeInvalid, "handlers.OnResponse: required")
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

// toolsOwn returns the request with an approval that the tool remembers itself.
func toolsOwn(r Request) Request {
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
	case !rec.State.Final(): // deferred by the on_timeout rule
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

// PublicText returns the part of an error that people may read.
func PublicText(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return err.Error()
}
