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

// entryProof proves that a daemon wrote an entry, and when.
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
func (p *Prover) ProveEntry(a *bridge.AuditEntry) error {
	if len(a.Data) < 3 || a.Data[0] != '{' {
		return bridge.Errorf(bridge.CodeInternal, "audit: the data of a %s entry must be an object", a.Type)
	}
	at := time.Now().UnixMilli()
	proof := entryProof{At: at, Proof: p.signer.detached(domainEntry, entryParts(*a, a.Data, at)...)}
	a.Data = append(append(append(bytes.Clone(a.Data[:len(a.Data)-1]), entryMark...), Stable(proof)...), '}')
	return nil
}

// EntryEvidence is the result of checking the proof of an audit entry.
type EntryEvidence struct {
	Needed bool   // the entry requires a proof, because it is about an action
	Good   bool   // the entry has a valid proof of a daemon
	unique string // value that only one entry may have; empty without a proof
}

// evidence checks the proof of an entry.
func (set JWKS) evidence(a bridge.AuditEntry) EntryEvidence {
	return set.evidenceBy(a, set.VerifyReceipt)
}

// evidenceBy is evidence with a function that verifies the receipt of a
// decision.
func (set JWKS) evidenceBy(a bridge.AuditEntry, receipt func(string) (Receipt, error)) EntryEvidence {
	switch a.Type {
	case bridge.AuditDecision:
		var resp bridge.Response
		if oneReading.DecodeKnown(a.Data, &resp) != nil || resp.State != a.State {
			return EntryEvidence{Needed: true}
		}
		if !resp.Decided() {
			return EntryEvidence{unique: "end of " + string(a.ID)}
		}
		r, err := receipt(resp.Proof)
		good := err == nil && r.ID == a.ID && r.Agent == a.Agent && r.Session == a.Session && r.sameDecision(resp)
		return EntryEvidence{true, good, "end of " + string(a.ID)}
	case bridge.AuditVote:
		var v bridge.Vote
		if oneReading.DecodeKnown(a.Data, &v) != nil {
			return EntryEvidence{Needed: true}
		}
		return EntryEvidence{true, set.detachedIs(v.Proof, domainVote, []byte(a.ID), voteBytes(v)), v.Proof}
	}
	proof, good := set.signedByDaemon(a)
	return EntryEvidence{true, good, proof}
}

// sameDecision reports whether the receipt is for a response. It does not
// compare votes, which have their own entries.
func (r Receipt) sameDecision(resp bridge.Response) bool {
	i := bridge.Interaction{
		ID:    r.ID,
		Ask:   bridge.Ask{Kind: r.Kind, Session: r.Session, Route: r.Route},
		Agent: r.Agent, Digest: r.Digest,
		Governance: bridge.Governance{Rule: r.Rule, Risk: r.Risk},
		Placement:  bridge.Placement{Quorum: r.Quorum},
	}
	want, err := receiptOf(i, "", resp, r.Votes)
	want.Content, want.Audit = r.Content, r.Audit
	return err == nil && resp.Digest == r.Digest && bytes.Equal(Stable(want), Stable(r))
}

// EntryProblem returns the reason why an entry must not be sealed or, in a
// sealed log, why it counts as forged. The argument proven states whether
// entries had proofs when the entry was written.
func (set JWKS) EntryProblem(a bridge.AuditEntry, proven bool) (ev EntryEvidence, problem string) {
	ev = set.evidence(a)
	return ev, ev.problem(a, proven)
}

// EntryProblem is JWKS.EntryProblem with the keys of the prover. It does not
// check a signature again that this process has made or checked before.
func (p *Prover) EntryProblem(a bridge.AuditEntry, proven bool) (ev EntryEvidence, problem string) {
	ev = p.signer.PublicKeys().evidenceBy(a, p.receipt)
	return ev, ev.problem(a, proven)
}

func (ev EntryEvidence) problem(a bridge.AuditEntry, proven bool) string {
	if ev.Needed && !ev.Good && (proven || ev.unique != "" && a.Type != bridge.AuditDecision) {
		return "has no proof that a daemon wrote it"
	}
	return ""
}
