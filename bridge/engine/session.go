package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
)

// Sessions stops and resumes sessions. It manages their late answers and front
// ends, and the approvals that tools remember.
type Sessions struct {
	memory   bridge.Memory
	mailbox  bridge.Mailbox
	records  bridge.Records
	presence bridge.Presence
	stops    bridge.Stops
	stopper  *stopper
	steerer  *steerer
	history  bridge.Histories // nil if there is none
	people   *people.People
	agents   map[string]bridge.Agent
	routes   routes
	journal  *journal.Journal
	reporter *reporter
}

// messageBatch is the maximum number of messages per call.
const messageBatch = 100

// Messages returns the late answers and the messages of people that the agent of
// a session has not acknowledged, oldest first.
func (se *Sessions) Messages(ctx context.Context, agent, session string) ([]bridge.Message, error) {
	out, err := se.mailbox.Messages(ctx, agent, session, messageBatch)
	if err != nil {
		return nil, err
	}
	said, err := se.Take(ctx, bridge.Taking{Agent: agent, Session: session})
	for _, s := range said {
		out = append(out, bridge.SaidMessage(s))
	}
	slices.SortStableFunc(out, func(a, b bridge.Message) int { return bridge.CompareMessages(a.ID, b.ID) })
	return out[:min(len(out), messageBatch)], err
}

// Acknowledge deletes the messages of a session through the given one. Their
// cards and authors are then told that the agent has them.
func (se *Sessions) Acknowledge(ctx context.Context, agent, session, through string) error {
	ids, err := se.mailbox.Acknowledge(ctx, agent, session, through)
	if err == nil {
		err = se.Took(ctx, agent, session, through)
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := se.records.Load(ctx, id)
		if err == nil {
			err = se.records.Delivered(ctx, r)
		}
		if err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
}

// Waits reports whether a request of a session is pending.
func (se *Sessions) Waits(ctx context.Context, agent, session string) (bool, error) {
	ids, err := se.records.Pending(ctx, agent, session)
	return len(ids) > 0, err
}

// Join records a front end of a session for PresenceTTL.
func (se *Sessions) Join(ctx context.Context, session, client string, enabled bool) error {
	return se.presence.Join(ctx, session, client, enabled)
}

// Leave removes a front end of a session.
func (se *Sessions) Leave(ctx context.Context, session, client string) error {
	return se.presence.Leave(ctx, session, client)
}

// End deletes the grants of a session and what tools remember for it. The
// caller has to cancel the interactions of the session.
func (se *Sessions) End(ctx context.Context, agent, session string) error {
	return se.memory.ClearSession(ctx, agent, session)
}

// Recall is [bridge.ToolApprovals.Get] for an agent.
func (se *Sessions) Recall(ctx context.Context, agent, key, session string) (bridge.Scope, error) {
	if err := checkRemembered(key, session); err != nil {
		return "", err
	}
	return se.memory.Recall(ctx, agent, session, key)
}

// Remember is [bridge.ToolApprovals.Set] for an agent.
func (se *Sessions) Remember(ctx context.Context, agent, key string, s bridge.Scope, session string) error {
	if err := checkRemembered(key, session); err != nil {
		return err
	}
	switch {
	case bridge.ScopeOrder(s) < 0:
		return bridge.Errorf(bridge.CodeInvalid, "scope: unknown scope %q", s).WithHint("use once, session or always")
	case s != bridge.ScopeAlways && session == "":
		return bridge.Errorf(bridge.CodeInvalid, "session: required for the scope %s", s)
	}
	return se.memory.Remember(ctx, agent, session, key, s)
}

func checkRemembered(key, session string) error {
	if key == "" {
		return bridge.Errorf(bridge.CodeInvalid, "key: required")
	}
	return bridge.FirstOf(errors.Join(bridge.CheckText("key", key, 500), bridge.CheckText("session", session, 200)))
}
