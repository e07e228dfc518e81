package proof

import (
	"crypto/sha1" //nolint:gosec // the links are made where nothing better is to be had; the seals use SHA-256
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// linked is what is hashed of an entry, after the hash before it.
func linked(e bridge.AuditEntry, before string) string {
	var b strings.Builder
	b.WriteString(before)
	for _, f := range []string{
		strconv.FormatInt(e.N, 10), strconv.FormatInt(e.Timestamp, 10), string(e.Type), string(e.ID), e.Agent, e.Session, string(e.State), string(e.Data),
	} {
		b.WriteString("\n" + strconv.Itoa(len(f)) + ":" + f)
	}
	return b.String()
}

// LinkAfter is the link that the entry has to have after another's.
func LinkAfter(e bridge.AuditEntry, before string) string {
	sum := sha1.Sum([]byte(linked(e, before))) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// HashAfter is the hash of the log up to this entry, given that up to the one
// before.
func HashAfter(e bridge.AuditEntry, before string) string {
	sum := sha256.Sum256([]byte(linked(e, before)))
	return hex.EncodeToString(sum[:])
}

// Seal vouches for a partition's log up to an entry.
type Seal struct {
	Partition int       `json:"partition"`
	N         int64     `json:"n"`
	Link      string    `json:"link"` // of entry N
	Hash      string    `json:"hash"` // hex SHA-256 over all entries up to N
	At        time.Time `json:"at"`
	// Trimmed means that what the seal vouches for was removed, as it had
	// outlived its retention: the log begins after it.
	Trimmed bool `json:"trimmed,omitempty"`
	// Proven means that the log has entries with proofs: none without one may
	// follow.
	Proven bool `json:"proven,omitempty"`
}

// Seal signs how far a partition's log is.
func (s *Signer) Seal(seal Seal) (string, error) { return s.sign(typeSeal, seal) }

// VerifySeal reads a seal whose signature is by one of the keys, or by a key
// that signed before; CodeForbidden for any other.
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
