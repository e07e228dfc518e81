package bridge

import (
	"context"
)

// Asker opens interactions for one agent and follows them. Engine.As of
// bridge/engine returns an Asker in the same process. The client in
// bridge/client is an Asker for other processes.
type Asker interface {
	// Open sends a request. The idempotency key may be empty. A repeat with
	// the same key returns the first record.
	Open(ctx context.Context, r Request, key string) (Record, error)
	// Wait returns once the interaction is over; see [Record.Over]. If ctx
	// ends first, it returns ctx's error.
	Wait(context.Context, ID) (Record, error)
	// Reprompt asks again in the same messages; see Reprompt in bridge/engine.
	Reprompt(ctx context.Context, id ID, r Request, key string) (Record, error)
	// Queue defers the interaction; see Queue in bridge/engine.
	Queue(ctx context.Context, id ID, hold Duration, message string) (Record, error)
	// Complete reports the result of a response; see Complete in
	// bridge/engine.
	Complete(context.Context, ID, Completion) (Record, error)
	// Cancel cancels a pending interaction.
	Cancel(ctx context.Context, id ID, reason string) (Record, error)
	// Leave cancels a pending interaction for the caller with an ID; see
	// [CallID]. The interaction stays open for other callers that share its
	// answer.
	Leave(ctx context.Context, id ID, caller, reason string) (Record, error)
	// Availability describes who could answer now.
	Availability(ctx context.Context, route, session string) (Availability, error)
	// Approvals returns the approvals that the agent's tools remember.
	Approvals() ToolApprovals
}

// ToolApprovals stores the approvals that a tool remembers under its own keys.
// Only the tool uses them: nod never approves anything because of them. Only
// nod uses grants, which are separate.
type ToolApprovals interface {
	// Get returns the scope that is remembered for a key, in the session or for
	// all sessions, or "" if none is remembered. It returns the scope "once" a
	// single time.
	Get(ctx context.Context, key, session string) (Scope, error)
	// Set remembers a scope. If the scope is always, it ignores the session.
	// All other scopes require a session.
	Set(ctx context.Context, key string, s Scope, session string) error
	// ClearSession deletes the scopes that are remembered for a session, and
	// ends the grants of the session.
	ClearSession(ctx context.Context, session string) error
}
