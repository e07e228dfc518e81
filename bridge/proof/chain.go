package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// joined returns a text to hash. It consists of the previous hash and the
// values, each with its length.
func joined(before string, values ...string) string {
	var b strings.Builder
	b.WriteString(before)
	for _, f := range values {
		b.WriteString("\n" + strconv.Itoa(len(f)) + ":" + f)
	}
	return b.String()
}

// HashAfter returns the hash of the log up to an entry, given the hash up to
// the previous entry.
func HashAfter(e bridge.AuditEntry, before string) string {
	sum := sha256.Sum256([]byte(joined(before, e.Entry, string(e.Type), string(e.Event), string(e.ID), e.Agent, e.Session, string(e.State),
		strconv.FormatInt(e.Timestamp, 10), e.Correlation, string(e.Data))))
	return hex.EncodeToString(sum[:])
}

// Seal states the content of the journal up to an entry.
type Seal struct {
	N     int64  `json:"n"`     // number of entries, including removed ones, but not events
	Entry string `json:"entry"` // ID of the last entry or event
	Hash  string `json:"hash"`  // hex SHA-256 over all entries
	// Added is the number of all entries and events in the journal so far,
	// including removed ones. Zero means that Redis did not report it.
	Added int64     `json:"added,omitempty"`
	At    time.Time `json:"at"`
	// Trimmed means that the entries up to this one were removed after their
	// retention, so the log starts after it.
	Trimmed bool `json:"trimmed,omitempty"`
}

// Seal signs the state of the journal.
func (s *Signer) Seal(seal Seal) (string, error) { return s.sign(typeSeal, seal) }

// VerifySeal returns a seal that is signed by one of the keys, including former
// ones. It returns CodeForbidden for any other seal.
func (set JWKS) VerifySeal(token string) (Seal, error) {
	var s Seal
	set.Keys = append(slices.Clone(set.Keys), set.Former...)
	payload, err := set.verify(typeSeal, token)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, bridge.Wrap(bridge.CodeInvalid, err, "seal")
	}
	return s, nil
}
