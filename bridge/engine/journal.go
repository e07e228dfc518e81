package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// refusalEvery bounds how often the same refusal is noted again.
const refusalEvery = time.Minute

// journal writes what people and agents did to the audit log.
type journal struct {
	notes bridge.Notes
	store bridge.AuditLog
	node  string
	log   *slog.Logger
}

// refuse notes in the audit log that somebody was refused. A log that cannot
// be written does not let anybody in: what failed is logged.
func (a *journal) refuse(ctx context.Context, i bridge.Interaction, actor bridge.Actor, why string) {
	mark := a.node + " " + strconv.FormatInt(time.Now().UnixNano(), 36)
	got, err := a.notes.PutNote(ctx, "refused:"+string(i.ID)+"/"+actor.Platform+"/"+actor.User+"/"+why, mark, refusalEvery)
	if err == nil && got == mark {
		err = a.write(ctx, bridge.AuditRefusal, i, bridge.Refusal{Actor: actor, Why: why})
	}
	if err != nil {
		a.log.Error("refusal not in the audit log", "id", i.ID, "platform", actor.Platform, "user", actor.User, "why", why, "error", err)
	}
}

func (a *journal) write(ctx context.Context, t bridge.AuditType, i bridge.Interaction, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "audit")
	}
	return a.store.Audit(ctx, bridge.AuditEntry{Type: t, ID: i.ID, Agent: i.Agent, Session: i.Session, Data: data})
}
