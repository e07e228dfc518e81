// Package journal creates entries of the audit log about actions of people and
// agents: for the change that stores the action ([Journal.Entry]), or alone
// ([Journal.Write]). It writes no decisions and votes, because the change that
// stores them contains their entries, and it does not seal or read the log
// (bridge/rooms/audit). Start with [Journal.Entry].
package journal

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker"
)

// refusalEvery is the minimum time between entries of the same refusal.
const refusalEvery = time.Minute

// Journal writes the actions of people and agents to the audit log. It is safe for
// concurrent use.
type Journal struct {
	db     documents.DB
	notes  documents.Notes
	signer *proof.Signer // nil signs nothing
}

// New returns a journal in a database.
func New(db documents.DB, signer *proof.Signer) *Journal {
	return &Journal{db: db, notes: documents.NewNotes(db), signer: signer}
}

// Refuse records a refusal in the audit log. If that fails, it only logs the
// error, because the action is refused anyway.
func (a *Journal) Refuse(ctx context.Context, i bridge.Interaction, actor bridge.Actor, why string) {
	first, err := a.notes.Claim(ctx, "refused:"+string(i.ID)+"/"+actor.Platform+"/"+actor.User+"/"+why, refusalEvery)
	if err == nil && first {
		err = a.Write(ctx, bridge.AuditRefusal, i, bridge.Refusal{Actor: actor, Why: why})
	}
	if err != nil {
		a.db.Log.Error("refusal not written to the audit log", "id", i.ID, "platform", actor.Platform, "user", actor.User, "why", why, "error", err)
	}
}

// Entry returns a signed entry for the change that it reports. It uses only the
// IDs of the request.
func (a *Journal) Entry(t bridge.AuditType, i bridge.Interaction, v any) (broker.Entry, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return broker.Entry{}, bridge.Wrap(bridge.CodeInternal, err, "audit")
	}
	e := bridge.AuditEntry{Type: t, ID: i.ID, Agent: i.Agent, Session: i.Session, Data: data}
	if err := a.signer.ProveEntry(&e); err != nil {
		return broker.Entry{}, err
	}
	return life.Entry("", e.ID, life.Life{Agent: e.Agent, Session: e.Session}, "", string(e.Data), t), nil
}

// Write appends an entry about an action that changes no document.
func (a *Journal) Write(ctx context.Context, t bridge.AuditType, i bridge.Interaction, v any) error {
	e, err := a.Entry(t, i, v)
	if err != nil {
		return err
	}
	return a.notes.Once(ctx, broker.Change{Journal: []broker.Entry{e}, Urgent: true})
}
