package bridge

import (
	"context"
)

// Asker opens interactions for one agent and carries them on. As of bridge/engine is
// one in this process, the client of package bridge/client one elsewhere.
type Asker interface {
	// Open asks; a repeat with the same key, which may be empty, finds the first.
	Open(ctx context.Context, r Request, key string) (Record, error)
	// Wait returns once the interaction is over, see [Record.Over], or ctx's error.
	Wait(context.Context, ID) (Record, error)
	// Reprompt asks again in the same messages; see Reprompt in bridge/engine.
	Reprompt(ctx context.Context, id ID, r Request, key string) (Record, error)
	// Queue lets the agent go on; see Queue in bridge/engine.
	Queue(ctx context.Context, id ID, hold Duration, message string) (Record, error)
	// Complete says what became of a response; see Complete in bridge/engine.
	Complete(context.Context, ID, Completion) (Record, error)
	Cancel(ctx context.Context, id ID, reason string) (Record, error)
	// Availability reports whether anybody could answer now.
	Availability(ctx context.Context, route, session string) (Availability, error)
	// Approvals is what the agent's tools remember.
	Approvals() ToolApprovals
}

// ToolApprovals is a tool's own memory of approvals, under keys of its own. It
// is advice to the tool: nod never approves anything because of it. The grants
// that people gave are separate, and only nod consults them.
type ToolApprovals interface {
	// Get returns the scope remembered for a key, in the session or for
	// always; empty: none. A once is returned only once.
	Get(ctx context.Context, key, session string) (Scope, error)
	// Set remembers. Always ignores the session; the others need one.
	Set(ctx context.Context, key string, s Scope, session string) error
	// ClearSession forgets what was remembered for a session, and ends the
	// grants that people gave for it.
	ClearSession(ctx context.Context, session string) error
}
