// Package audit seals, checks, exports and trims the audit log, and signs
// answers in the formats of other systems. It does not write entries: votes and
// decisions contain entries in their own changes, and package journal writes
// the other entries. Start with [Log.Run].
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
	// Retention is the time for which the audit log is kept. Zero means
	// forever.
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
