// Package audit keeps the audit log: it seals, checks, archives, exports and
// trims the entries of the log, and signs answers in the formats of other
// systems. It creates no entries: the entries of votes and decisions are written
// together with them, and package journal creates the others. Start with
// [Log.Run].
package audit

import (
	"context"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/proof"
)

// Log is the audit log. It is safe for concurrent use.
type Log struct {
	store     *Entries
	leases    documents.Leases
	sealing   sealHealth
	signer    *proof.Signer
	retention time.Duration
	log       *slog.Logger
	node      string
}

// New returns the audit log of an installation. Retention is the time for which
// it keeps entries. Zero means forever.
func New(o engine.Options, retention time.Duration) *Log {
	db := documents.DB{Store: o.DB, Log: o.Log}
	return &Log{
		store: NewEntries(db, o.Store.Retention()), leases: documents.NewLeases(db), signer: o.Signer, retention: retention, log: o.Log, node: o.Node,
	}
}

// Last returns the ID of the newest entry of the journal. Every decision, vote, grant and
// revocation changes it.
func (au *Log) Last(ctx context.Context) (string, error) {
	c, err := au.store.AuditCounts(ctx)
	return c.Last, err
}

// StateAnswer signs an answer in another format, based on records. It returns
// "" without a signer.
func (au *Log) StateAnswer(records []bridge.Record, body []byte) (string, error) {
	if au.signer == nil {
		return "", nil
	}
	for _, r := range records {
		if err := r.Trusted(); err != nil {
			return "", err
		}
	}
	return au.signer.Answer(records, body)
}
