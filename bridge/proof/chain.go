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

// joined returns a text to hash: the previous hash, and then values, each with
// its length.
func joined(before string, values ...string) string {
	var b strings.Builder
	b.WriteString(before)
	for _, f := range values {
		b.WriteString("\n" + strconv.Itoa(len(f)) + ":" + f)
	}
	return b.String()
}

// linked returns the text of an entry of a linked log to hash, which starts with
// the previous hash.
func linked(e bridge.AuditEntry, before string) string {
	return joined(before, strconv.FormatInt(e.N, 10), strconv.FormatInt(e.Timestamp, 10), string(e.Type), string(e.ID),
		e.Agent, e.Session, string(e.State), string(e.Data))
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
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
	if e.Entry == "" {
		return hashed(linked(e, before))
	}
	return hashed(joined(before, e.Entry, string(e.Type), string(e.Event), string(e.ID), e.Agent, e.Session, string(e.State),
		strconv.FormatInt(e.Timestamp, 10), e.Correlation, string(e.Data)))
}

// Seal states the content of a log of a partition up to an entry.
type Seal struct {
	Partition int    `json:"partition"`
	N         int64  `json:"n"`              // number of entries, including those that were removed, without events
	Link      string `json:"link,omitempty"` // link of the last entry; only in a linked log
	// Entry is the ID of the last entry or event. It is empty in a seal of a
	// linked log.
	Entry string `json:"entry,omitempty"`
	Hash  string `json:"hash"` // hex SHA-256 over all entries
	// Linked and Before are the number and the hash of the last seal of the
	// linked log when the first seal of the journal was made. The hashes of
	// the journal start with Before.
	Linked int64  `json:"linked,omitempty"`
	Before string `json:"before,omitempty"`
	// Added is the number of entries and events that were ever added to the
	// journal, up to the last one. It is 0 if Redis did not report it.
	Added int64     `json:"added,omitempty"`
	At    time.Time `json:"at"`
	// Trimmed means that the entries up to this one were removed after their
	// retention, so that the log starts after it.
	Trimmed bool `json:"trimmed,omitempty"`
	// Proven means that the log has entries with proofs, after which all
	// entries must have one.
	Proven bool `json:"proven,omitempty"`
}

// Of reports whether the seal is one of a log.
func (s Seal) Of(part bridge.AuditPart) bool {
	return s.Partition == part.Partition && (s.Entry == "") == part.Linked
}

// Place returns the last entry that the seal covers.
func (s Seal) Place() bridge.SealPlace {
	if s.Entry != "" {
		return bridge.SealPlace{Entry: s.Entry}
	}
	return bridge.SealPlace{N: s.N}
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
