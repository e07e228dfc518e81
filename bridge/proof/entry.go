package proof

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// entryMark is the start of the proof that a daemon appends to the data of its
// audit entries. The data is a JSON object, and the proof is its last member.
const entryMark = `,"nod_entry":`

// entryProof proves that a daemon wrote an entry, and at which time.
type entryProof struct {
	At    int64  `json:"at"` // ms since 1970, by the daemon's clock
	Proof string `json:"proof"`
}

// entrySpread is the maximum difference between the time of an entry, by the
// clock of Redis, and the time when a daemon signed it. It prevents the reuse
// of an entry at a much later time.
const entrySpread = 15 * time.Minute

// oneReading decodes exported data, which other programs also read. It accepts
// only data that all parsers read in the same way.
var oneReading = strictjson.Limits{Depth: 1000}

// entryParts returns the parts that the proof of an entry covers.
func entryParts(a bridge.AuditEntry, data []byte, at int64) [][]byte {
	return [][]byte{[]byte(a.Type), []byte(a.ID), []byte(a.Agent), []byte(a.Session), []byte(a.State), []byte(strconv.FormatInt(at, 10)), data}
}

// signedByDaemon returns the proof in the data of an entry, and reports whether
// it is valid.
func (set JWKS) signedByDaemon(a bridge.AuditEntry) (string, bool) {
	at := bytes.LastIndex(a.Data, []byte(entryMark))
	if at < 0 || a.Data[len(a.Data)-1] != '}' {
		return "", false
	}
	var p entryProof
	if json.Unmarshal(a.Data[at+len(entryMark):len(a.Data)-1], &p) != nil {
		return "", false
	}
	bare := append(bytes.Clone(a.Data[:at]), '}')
	if spread := a.Timestamp - p.At; spread > entrySpread.Milliseconds() || -spread > entrySpread.Milliseconds() {
		return "", false
	}
	return p.Proof, set.detachedIs(p.Proof, domainEntry, entryParts(a, bare, p.At)...)
}

// ProveEntry adds the proof to an entry of the audit log before it is stored.
func (s *Signer) ProveEntry(a *bridge.AuditEntry) error {
	if s == nil {
		return nil
	}
	if len(a.Data) < 3 || a.Data[0] != '{' {
		return bridge.Errorf(bridge.CodeInternal, "audit: the data of a %s entry must be an object", a.Type)
	}
	at := time.Now().UnixMilli()
	proof := entryProof{At: at, Proof: s.detached(domainEntry, entryParts(*a, a.Data, at)...)}
	a.Data = append(append(append(bytes.Clone(a.Data[:len(a.Data)-1]), entryMark...), Stable(proof)...), '}')
	return nil
}

// unproven is the description of an entry without a valid proof.
const unproven = "has no proof that a daemon wrote it"

// entryProblem is JWKS.EntryProblem with a function that verifies the receipt of
// a decision.
func (set JWKS) entryProblem(a bridge.AuditEntry, receipt func(string) (Receipt, error)) (unique, problem string) {
	good := false
	switch a.Type {
	case bridge.AuditDecision:
		var resp bridge.DecisionEntry
		if oneReading.DecodeKnown(a.Data, &resp) != nil || resp.State != a.State {
			return "", unproven
		}
		unique, good = "end of "+string(a.ID), !resp.Decided()
		if !good {
			r, err := receipt(resp.Receipt)
			good = err == nil && r.ID == a.ID && r.Agent == a.Agent && r.Session == a.Session && r.sameDecision(resp.Response)
		}
	default:
		unique, good = set.signedByDaemon(a)
	}
	if !good {
		problem = unproven
	}
	return unique, problem
}

// sameDecision reports whether the receipt is for a response. It does not
// compare votes, which have their own entries.
func (r Receipt) sameDecision(resp bridge.Response) bool {
	i := bridge.Interaction{
		ID:    r.ID,
		Ask:   bridge.Ask{Kind: r.Kind, Session: r.Session, Route: r.Route},
		Agent: r.Agent, Digest: r.Digest, Content: r.Content,
		Governance: bridge.Governance{Rule: r.Rule, Risk: r.Risk},
		Placement:  bridge.Placement{Quorum: r.Quorum},
	}
	want, err := receiptOf(i, resp, r.Votes)
	return err == nil && resp.Digest == r.Digest && bytes.Equal(Stable(want), Stable(r))
}

// EntryProblem returns the reason that an entry must not be sealed. In a sealed
// log, an entry with such a reason counts as forged. It also returns a value
// that only one entry may have, or "".
func (set JWKS) EntryProblem(a bridge.AuditEntry) (unique, problem string) {
	return set.entryProblem(a, set.VerifyReceipt)
}

// EntryProblem is JWKS.EntryProblem with the keys of the signer. It does not
// check a receipt again if this process has created or checked it. A nil Signer
// finds no problem.
func (s *Signer) EntryProblem(a bridge.AuditEntry) (unique, problem string) {
	if s == nil {
		return "", ""
	}
	return s.public.entryProblem(a, s.receipt)
}
