package bridge

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// AuditType is the type of an entry of the audit log.
type AuditType string

// The entries.
const (
	AuditDecision AuditType = "decision" // an interaction ended; Data is a DecisionEntry
	AuditVote     AuditType = "vote"     // one of several required decisions; Data is the Vote
	AuditRefusal  AuditType = "refusal"  // someone tried to respond without permission; Data is a Refusal
	AuditGrant    AuditType = "grant"    // a grant was given; Data is the Grant
	AuditRevoke   AuditType = "revoke"   // a grant was revoked; Data is a Revocation
	AuditLink     AuditType = "link"     // an account was linked to a person; Data is a Link
	AuditHandOver AuditType = "handover" // a responder delegated to another person; Data is a HandOver
	AuditStop     AuditType = "stop"     // a session was stopped; Data is a SessionChange
	AuditResume   AuditType = "resume"   // a session was resumed; Data is a SessionChange
	AuditSteer    AuditType = "steer"    // a person sent a message to a session; Data is the Steering
	AuditPasskey  AuditType = "passkey"  // the keys of a person changed; Data is a PasskeyChange

	// AuditEvent is an event that is not an entry of the audit log. It is in
	// the same journal, but nod removes it earlier, so seals only count it.
	AuditEvent AuditType = "event"
)

// AuditEntry is one entry of the audit log.
type AuditEntry struct {
	Entry     string          `json:"entry,omitempty"` // the ID in the journal
	Timestamp int64           `json:"ts,omitempty"`    // ms since 1970, by the store's clock
	Type      AuditType       `json:"type"`
	ID        ID              `json:"id,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Session   string          `json:"session,omitempty"`
	State     State           `json:"state,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`

	// Event is the type of the event that was stored as this entry. It is empty
	// for an entry that is not sent to readers of events.
	Event EventType `json:"event,omitempty"`
	// Correlation is the JSON of the IDs that the agent attached to the event.
	Correlation string `json:"correlation,omitempty"`
}

// DecisionEntry is the data of AuditDecision: the response, with the receipt of a
// decision.
type DecisionEntry struct {
	Response
	Receipt string `json:"receipt,omitempty"`
}

// CompareEntries compares the IDs of two entries of a journal. Malformed IDs
// come first.
func CompareEntries(a, b string) int {
	x, y := entryID(a), entryID(b)
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
}

// entryID returns the time in ms and the number in an ID of a journal entry.
func entryID(s string) [2]uint64 {
	ms, seq, _ := strings.Cut(s, "-")
	t, err1 := strconv.ParseUint(ms, 10, 64)
	n, err2 := strconv.ParseUint(seq, 10, 64)
	if err1 != nil || err2 != nil {
		return [2]uint64{}
	}
	return [2]uint64{t, n}
}

// AuditCounts holds Redis's counts of the entries in the stream of the journal.
type AuditCounts struct {
	Last string // ID of the newest entry that was ever added
	// Added is the number of entries ever added. Zero means that Redis does not
	// report the number, because it is older than version 7.
	Added int64
	// Deleted is the highest ID of an entry that was deleted individually. nod
	// deletes entries individually only below the start of a trimmed log.
	Deleted string
}

// AuditRef names the entry of the audit log that was written with a decision.
type AuditRef struct {
	Entry string `json:"entry"` // the ID in the journal
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
	Action     string `json:"action"` // invited, added or revoked
	Person     string `json:"person"`
	Credential string `json:"credential,omitempty"` // the ID of the key in base64url
	PublicKey  string `json:"public_key,omitempty"` // COSE in base64url
	Label      string `json:"label,omitempty"`
	By         string `json:"by"` // the person, or the administrator who invited the person
}
