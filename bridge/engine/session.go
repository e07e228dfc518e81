package engine

import (
	"context"
	"errors"

	"github.com/nodbridge/nod/bridge"
)

// Sessions keeps what belongs to sessions: late answers, front ends, and what tools remember.
type Sessions struct {
	memory   bridge.Memory
	mailbox  bridge.Mailbox
	records  bridge.Records
	presence bridge.Presence
}

// messageBatch is how many messages are handed out at once.
const messageBatch = 100

// Messages returns the late answers of a session that its agent has not
// acknowledged, oldest first.
func (se *Sessions) Messages(ctx context.Context, agent, session string) ([]bridge.Message, error) {
	return se.mailbox.Messages(ctx, agent, session, messageBatch)
}

// Acknowledge forgets the messages of a session up to one; their cards say that
// the agent has the answer.
func (se *Sessions) Acknowledge(ctx context.Context, agent, session, through string) error {
	ids, err := se.mailbox.Acknowledge(ctx, agent, session, through)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := se.records.Mark(ctx, id, bridge.Mark{Delivered: true}); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
}

// Join counts a front end among those of a session, for PresenceTTL.
func (se *Sessions) Join(ctx context.Context, session, client string, enabled bool) error {
	return se.presence.Join(ctx, session, client, enabled)
}

// Leave stops counting a front end.
func (se *Sessions) Leave(ctx context.Context, session, client string) error {
	return se.presence.Leave(ctx, session, client)
}

// End forgets the grants of a session; its interactions are cancelled
// one by one by the caller, who can list them.
func (se *Sessions) End(ctx context.Context, agent, session string) error {
	return se.memory.ClearSession(ctx, agent, session)
}

// Recall is [ToolApprovals.Get] for an agent.
func (se *Sessions) Recall(ctx context.Context, agent, key, session string) (bridge.Scope, error) {
	if err := checkRemembered(key, session); err != nil {
		return "", err
	}
	return se.memory.Recall(ctx, agent, session, key)
}

// Remember is [ToolApprovals.Set] for an agent.
func (se *Sessions) Remember(ctx context.Context, agent, key string, s bridge.Scope, session string) error {
	if err := checkRemembered(key, session); err != nil {
		return err
	}
	switch {
	case bridge.ScopeOrder(s) < 0:
		return bridge.Errorf(bridge.CodeInvalid, "scope: unknown %q", s).WithHint("use once, session or always")
	case s != bridge.ScopeAlways && session == "":
		return bridge.Errorf(bridge.CodeInvalid, "session: is needed for the scope %s", s)
	}
	return se.memory.Remember(ctx, agent, session, key, s)
}

func checkRemembered(key, session string) error {
	if key == "" {
		return bridge.Errorf(bridge.CodeInvalid, "key: is empty")
	}
	return bridge.FirstOf(errors.Join(bridge.CheckText("key", key, 500), bridge.CheckText("session", session, 200)))
}
