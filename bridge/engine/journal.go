package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// refusalEvery is the minimum time between entries of the same refusal.
const refusalEvery = time.Minute

// journal writes the actions of people and agents to the audit log.
type journal struct {
	notes bridge.Notes
	store bridge.AuditLog
	log   *slog.Logger
}

// refuse records a refusal in the audit log. If that fails, it only logs the
// error, because the action is refused anyway.
func (a *journal) refuse(ctx context.Context, i bridge.Interaction, actor bridge.Actor, why string) {
	first, err := claim(ctx, a.notes, "refused:"+string(i.ID)+"/"+actor.Platform+"/"+actor.User+"/"+why, refusalEvery)
	if err == nil && first {
		err = a.write(ctx, bridge.AuditRefusal, i, bridge.Refusal{Actor: actor, Why: why})
	}
	if err != nil {
		a.log.Error("refusal not written to the audit log", "id", i.ID, "platform", actor.Platform, "user", actor.User, "why", why, "error", err)
	}
}

func (a *journal) write(ctx context.Context, t bridge.AuditType, i bridge.Interaction, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "audit")
	}
	return a.store.Audit(ctx, bridge.AuditEntry{Type: t, ID: i.ID, Agent: i.Agent, Session: i.Session, Data: data})
}
