package bridge

import (
	"context" //nolint:gosec // Redis scripts make the links and have only SHA-1; the seals use SHA-256
	"encoding/json"
)

// AuditType names what an entry of the audit log reports.
type AuditType string

// The entries.
const (
	AuditDecision AuditType = "decision" // an interaction ended; Data is the Response
	AuditVote     AuditType = "vote"     // one of several required decisions; Data is the Vote
	AuditRefusal  AuditType = "refusal"  // someone tried to respond without permission; Data is a Refusal
	AuditGrant    AuditType = "grant"    // a grant was given; Data is the Grant
	AuditRevoke   AuditType = "revoke"   // a grant was revoked; Data is a Revocation
	AuditLink     AuditType = "link"     // an account was linked to a person; Data is a Link
	AuditHandOver AuditType = "handover" // a responder delegated to another person; Data is a HandOver
	AuditMode     AuditType = "mode"     // a channel was made read-only or writable; Data is a ChannelMode
	AuditStop     AuditType = "stop"     // a session was stopped; Data is a SessionChange
	AuditResume   AuditType = "resume"   // a session was resumed; Data is a SessionChange
	AuditSteer    AuditType = "steer"    // a person sent a message to a session; Data is the Steering
	AuditPasskey  AuditType = "passkey"  // the keys of a person changed; Data is a PasskeyChange
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

	// Cursor is an opaque position after this entry. It is not part of the
	// entry.
	Cursor string `json:"-"`
}

// SealedAudit describes how long the log of a partition is, and how far it is
// sealed.
type SealedAudit struct {
	N      int64  // number of entries
	Sealed string // the last seal; empty if there is none
	Cursor string // of the last sealed entry
}

// NewSeal is a seal to append to those of an audit log.
type NewSeal struct {
	// After is the last seal that the caller has read. It is empty if there
	// was none.
	After  string
	Token  string // the signed seal
	N      int64  // number of the last entry that it covers
	Cursor string // of that entry
	// Instead is the number of the entry whose seal the new one replaces. It
	// is 0 if all seals are kept.
	Instead int64
}

// AuditLog keeps the audit log. Entries are never changed.
type AuditLog interface {
	// Audit appends an entry of which Type, ID, Agent, Session, State and Data
	// are set. An entry without an ID or a Session is in partition 0.
	Audit(context.Context, AuditEntry) error
	// Audits returns the state of each partition's log.
	Audits(context.Context) ([]SealedAudit, error)
	// AuditEntries returns up to limit entries after a cursor. An empty
	// cursor starts at the oldest entry that is kept.
	AuditEntries(ctx context.Context, partition int, after string, limit int) ([]AuditEntry, error)
	// AuditNewest returns up to limit entries of all partitions before a
	// cursor, newest first, and the cursor of the next page. The cursor is
	// empty after the last page. An empty cursor starts at the newest entry.
	AuditNewest(ctx context.Context, before string, limit int) (entries []AuditEntry, next string, err error)
	// Seals returns the seals of a partition, oldest first. The first may
	// be the seal that the log was trimmed to.
	Seals(ctx context.Context, partition int) ([]string, error)
	// PutSeal appends a seal to those of a partition. It returns CodeConflict,
	// and changes nothing, if the last seal is not the expected one.
	PutSeal(ctx context.Context, partition int, s NewSeal) error
	// TrimAudit removes the entries and seals up to entry n, and keeps the
	// given seal of entry n as the start of the log.
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

// PasskeyChange is the Data of AuditPasskey.
type PasskeyChange struct {
	Action     string `json:"action"` // invited, added, revoked, totp_added or totp_removed
	Person     string `json:"person"`
	Credential string `json:"credential,omitempty"` // the ID of the key in base64url
	PublicKey  string `json:"public_key,omitempty"` // COSE in base64url
	Label      string `json:"label,omitempty"`
	By         string `json:"by"` // the person, or the administrator who invited the person
}

// ChannelMode is the Data of AuditMode.
type ChannelMode struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel"`
	ReadOnly bool   `json:"read_only"`
	By       Actor  `json:"by"`
}
