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

// linked returns the text of an entry to hash, which starts with the previous
// hash.
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

// LinkAfter returns the link of an entry, given the link of the entry before
// it.
func LinkAfter(e bridge.AuditEntry, before string) string {
	sum := sha1.Sum([]byte(linked(e, before))) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// HashAfter returns the hash of the log up to an entry, given the hash up to
// the entry before it.
func HashAfter(e bridge.AuditEntry, before string) string {
	sum := sha256.Sum256([]byte(linked(e, before)))
	return hex.EncodeToString(sum[:])
}

// Seal states the content of a partition's log up to an entry.
type Seal struct {
	Partition int       `json:"partition"`
	N         int64     `json:"n"`
	Link      string    `json:"link"` // link of entry N
	Hash      string    `json:"hash"` // hex SHA-256 over all entries up to N
	At        time.Time `json:"at"`
	// Trimmed means that the entries up to N were removed after their
	// retention, so that the log starts after N.
	Trimmed bool `json:"trimmed,omitempty"`
	// Proven means that the log has entries with proofs, after which all
	// entries must have one.
	Proven bool `json:"proven,omitempty"`
}

// Seal signs the state of a partition's log.
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
