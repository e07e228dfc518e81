// Package audit seals, checks, exports and trims the audit log, and signs answers in
// the formats of other systems. It writes no entries: votes and decisions bring theirs in
// their own change, and package journal writes the others. Start with [Log.Run].
package audit

import (
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Options configures a Log.
type Options struct {
	Store  bridge.AuditLog
	Leases bridge.Leases
	// Signer signs seals and answers. If it is nil, nothing is signed.
	Signer *proof.Signer
	// Retention is the time to keep the audit log. Zero means forever.
	Retention time.Duration
	Node      string // identifies this process in leases
	Log       *slog.Logger
}

// Log is the audit log. It is safe for concurrent use.
type Log struct {
	store     bridge.AuditLog
	leases    bridge.Leases
	sealing   sealHealth
	signer    *proof.Signer
	retention time.Duration
	log       *slog.Logger
	node      string
}

// New returns the audit log.
func New(o Options) *Log {
	return &Log{store: o.Store, leases: o.Leases, signer: o.Signer, retention: o.Retention, log: o.Log, node: o.Node}
}

// StateAnswer signs an answer in another format that was made from records. It returns
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
