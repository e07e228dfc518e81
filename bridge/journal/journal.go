// Package journal writes what people and agents do to the audit log. Decisions and
// votes are not written here, because the change that stores them writes their entries.
// Start with [Journal].
package journal

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// refusalEvery is the minimum time between entries of the same refusal.
const refusalEvery = time.Minute

// Journal writes the actions of people and agents to the audit log. It is safe for
// concurrent use.
type Journal struct {
	notes bridge.Notes
	store bridge.AuditLog
	log   *slog.Logger
}

// New returns a journal.
func New(store bridge.AuditLog, notes bridge.Notes, log *slog.Logger) *Journal {
	return &Journal{notes: notes, store: store, log: log}
}

// Refuse records a refusal in the audit log. If that fails, it only logs the
// error, because the action is refused anyway.
func (a *Journal) Refuse(ctx context.Context, i bridge.Interaction, actor bridge.Actor, why string) {
	first, err := bridge.Claim(ctx, a.notes, "refused:"+string(i.ID)+"/"+actor.Platform+"/"+actor.User+"/"+why, refusalEvery)
	if err == nil && first {
		err = a.Write(ctx, bridge.AuditRefusal, i, bridge.Refusal{Actor: actor, Why: why})
	}
	if err != nil {
		a.log.Error("refusal not written to the audit log", "id", i.ID, "platform", actor.Platform, "user", actor.User, "why", why, "error", err)
	}
}

// Write appends an entry about a request, of which only the IDs count.
func (a *Journal) Write(ctx context.Context, t bridge.AuditType, i bridge.Interaction, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "audit")
	}
	return a.store.Audit(ctx, bridge.AuditEntry{Type: t, ID: i.ID, Agent: i.Agent, Session: i.Session, Data: data})
}
