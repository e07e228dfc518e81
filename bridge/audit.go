package bridge

import (
	"context" //nolint:gosec // the links are made where nothing better is to be had; the seals use SHA-256
	"encoding/json"
)

// AuditType names what an entry of the audit log reports.
type AuditType string

// The entries.
const (
	AuditDecision AuditType = "decision" // an interaction ended; Data is the Response
	AuditVote     AuditType = "vote"     // one of several that are needed; Data is the Vote
	AuditRefusal  AuditType = "refusal"  // somebody who may not answer tried to; Data is a Refusal
	AuditGrant    AuditType = "grant"    // a grant was given; Data is the Grant
	AuditRevoke   AuditType = "revoke"   // a grant was revoked; Data is a Revocation
	AuditLink     AuditType = "link"     // an account was linked to a person; Data is a Link
	AuditHandOver AuditType = "handover" // another person was asked by one who was; Data is a HandOver
	AuditMode     AuditType = "mode"     // a channel was made read-only or let answer; Data is a ChannelMode
)

// AuditEntry is one entry of the audit log. The entries of a partition are
// numbered from 1 without gaps, and each is linked to the one before it.
type AuditEntry struct {
	Partition int             `json:"partition"`
	N         int64           `json:"n"`
	Timestamp int64           `json:"ts"` // ms since 1970, by the store's clock
	Type      AuditType       `json:"type"`
	ID        ID              `json:"id,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Session   string          `json:"session,omitempty"`
	State     State           `json:"state,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Link      string          `json:"link"` // hex SHA-1 over the link before and this entry

	// Cursor resumes after this entry; opaque, and no part of it.
	Cursor string `json:"-"`
}

// SealedAudit is how far a partition's log is, and is sealed.
type SealedAudit struct {
	N      int64  // entries
	Sealed string // the last seal; empty: none
	Cursor string // of the last sealed entry
}

// AuditLog keeps the audit log. Entries are never changed.
type AuditLog interface {
	// Audit appends an entry of which Type, ID, Agent, Session, State and Data
	// are set. An entry without an ID or a Session is in partition 0.
	Audit(context.Context, AuditEntry) error
	// Audits returns how far each partition's log is.
	Audits(context.Context) ([]SealedAudit, error)
	// AuditEntries returns up to limit entries after a cursor; an empty one
	// begins at the first that is kept.
	AuditEntries(ctx context.Context, partition int, after string, limit int) ([]AuditEntry, error)
	// Seals returns the seals of a partition, oldest first; the first may be
	// the one that was trimmed to.
	Seals(ctx context.Context, partition int) ([]string, error)
	// PutSeal appends a seal of entry n, unless there is one. It takes the place
	// of that of entry instead, unless that is 0.
	PutSeal(ctx context.Context, partition int, n int64, cursor, seal string, instead int64) error
	// TrimAudit removes the entries and seals up to entry n, which a seal
	// vouches for, and keeps one that says so.
	TrimAudit(ctx context.Context, partition int, n int64, seal string) error
}

// AuditRef names the entry of the audit log that was written with a decision.
type AuditRef struct {
	Partition int    `json:"partition"`
	N         int64  `json:"n"`
	Link      string `json:"link"`
}

// Refusal is the Data of AuditRefusal.
type Refusal struct {
	Actor Actor  `json:"actor"`
	Why   string `json:"why"`
}

// Revocation is the Data of AuditRevoke.
type Revocation struct {
	Grant Grant  `json:"grant"`
	By    string `json:"by"`
}

// ChannelMode is the Data of AuditMode.
type ChannelMode struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel"`
	ReadOnly bool   `json:"read_only"`
	By       Actor  `json:"by"`
}
