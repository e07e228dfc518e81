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
// keep their values. Its Error describes the problem with the answer.
type Reprompt struct{ Request Request }

// Pending defers the question: RequestInteraction returns a [PendingResult],
// the question stays open, and a late answer goes to the session inbox. It
// requires a session. Only Pending keeps a question open. Complete closes it,
// regardless of its Result.
type Pending struct {
	Message string
	Hold    Duration // time for which the question stays open; zero means the time of the request
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
	// RequestInteraction returns an [EndedError] instead. In a session, the
	// question stays open until OnTimeout has decided. After a Pending, the
	// same question stays open. After a Complete, it expires.
	OnTimeout func(context.Context) (Outcome, error)
	// OnCancel is called when the interaction is cancelled, or when the context
	// of RequestInteraction ends while it waits. It may be nil.
	OnCancel func()
}

// ErrInteractionUnavailable matches the error of an interaction that no one
// could answer, because no platform was connected and no front end was enabled.
var ErrInteractionUnavailable = errors.New("interaction_unavailable")

// EndedError is the error of an interaction that closed without a response.
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
// asked.
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
