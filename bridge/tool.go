package bridge

import (
	"context"
	"errors"
)

// Asker opens interactions for one agent and carries them on. [Engine.As] is
// one in this process, the client of package bridge/client one elsewhere.
type Asker interface {
	// Open asks; a repeat with the same key, which may be empty, finds the first.
	Open(ctx context.Context, r Request, key string) (Record, error)
	// Wait returns once the interaction is over, see [Record.Over], or ctx's error.
	Wait(context.Context, ID) (Record, error)
	// Reprompt asks again in the same messages; see [Engine.Reprompt].
	Reprompt(ctx context.Context, id ID, r Request, key string) (Record, error)
	// Queue lets the agent go on; see [Engine.Queue].
	Queue(ctx context.Context, id ID, hold Duration, message string) (Record, error)
	// Complete says what became of a response; see [Engine.Complete].
	Complete(context.Context, ID, Completion) (Record, error)
	Cancel(ctx context.Context, id ID, reason string) (Record, error)
	// Availability tells whether anybody could answer now.
	Availability(ctx context.Context, route, session string) (Availability, error)
	// Approvals is what the agent's tools remember.
	Approvals() ToolApprovals
}

// ToolApprovals is a tool's own memory of approvals, under keys of its own. It
// is advice to the tool: nod never lets anything pass because of it. The grants
// that people gave are consulted by nod itself.
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

// As returns an asker that acts for an agent in this process.
func (e *Engine) As(a Agent) Asker { return asker{e, a} }

type asker struct {
	e     *Engine
	agent Agent
}

func (a asker) Open(ctx context.Context, r Request, key string) (Record, error) {
	return a.e.Open(ctx, a.agent, r, key)
}

// owns refuses what another agent asked.
func (a asker) owns(ctx context.Context, id ID) error {
	r, err := a.e.Get(ctx, id)
	if err == nil && r.Interaction.Agent != a.agent.Name {
		err = Errorf(CodeNotFound, "there is no interaction %s", id)
	}
	return err
}

func (a asker) Wait(ctx context.Context, id ID) (Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return Record{}, err
	}
	rec, err := a.e.Await(ctx, id)
	if err == nil {
		err = a.e.Delivered(context.WithoutCancel(ctx), rec)
	}
	return rec, err
}

func (a asker) Reprompt(ctx context.Context, id ID, r Request, key string) (Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return Record{}, err
	}
	return a.e.Reprompt(ctx, a.agent, id, r, key)
}

func (a asker) Queue(ctx context.Context, id ID, hold Duration, message string) (Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return Record{}, err
	}
	return a.e.Queue(ctx, a.agent, id, hold, message)
}

func (a asker) Complete(ctx context.Context, id ID, c Completion) (Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return Record{}, err
	}
	return a.e.Complete(ctx, id, c)
}

func (a asker) Cancel(ctx context.Context, id ID, reason string) (Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return Record{}, err
	}
	return a.e.Cancel(ctx, id, reason)
}

func (a asker) Availability(ctx context.Context, route, session string) (Availability, error) {
	return a.e.Availability(ctx, a.agent, route, session)
}

func (a asker) Approvals() ToolApprovals { return approvals{a.e, a.agent.Name} }

type approvals struct {
	e     *Engine
	agent string
}

func (a approvals) Get(ctx context.Context, key, session string) (Scope, error) {
	return a.e.Recall(ctx, a.agent, key, session)
}

func (a approvals) Set(ctx context.Context, key string, s Scope, session string) error {
	return a.e.Remember(ctx, a.agent, key, s, session)
}

func (a approvals) ClearSession(ctx context.Context, session string) error {
	return a.e.EndSession(ctx, a.agent, session)
}

func checkRemembered(key, session string) error {
	if key == "" {
		return Errorf(CodeInvalid, "key: is empty")
	}
	return firstOf(errors.Join(checkText("key", key, 500), checkText("session", session, 200)))
}

// Recall is [ToolApprovals.Get] for an agent.
func (e *Engine) Recall(ctx context.Context, agent, key, session string) (Scope, error) {
	if err := checkRemembered(key, session); err != nil {
		return "", err
	}
	return e.store.Recall(ctx, agent, session, e.veilKey(key))
}

// Remember is [ToolApprovals.Set] for an agent.
func (e *Engine) Remember(ctx context.Context, agent, key string, s Scope, session string) error {
	if err := checkRemembered(key, session); err != nil {
		return err
	}
	switch {
	case scopeOrder(s) < 0:
		return Errorf(CodeInvalid, "scope: unknown %q", s).WithHint("use once, session or always")
	case s != ScopeAlways && session == "":
		return Errorf(CodeInvalid, "session: is needed for the scope %s", s)
	}
	return e.store.Remember(ctx, agent, session, e.veilKey(key), s)
}
