package proof

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// entryMark begins what a daemon appends to the data of an audit entry that it
// writes itself. The data is a JSON object, and this is its last member.
const entryMark = `,"nod_entry":`

// entryProof says who wrote an entry, and when.
type entryProof struct {
	At    int64  `json:"at"` // ms since 1970, by the daemon's clock
	Proof string `json:"proof"`
}

// entrySpread is the largest difference between the time of an entry, which
// Redis gives it, and the time at which a daemon signed it: an entry cannot be used again
// much later.
const entrySpread = 15 * time.Minute

// oneReading decodes exported data, which others read too: it must say the same
// to all of them.
var oneReading = strictjson.Limits{Depth: 1000}

// entryParts returns the parts that the proof of an entry is made over.
func entryParts(a bridge.AuditEntry, data []byte, at int64) [][]byte {
	return [][]byte{[]byte(a.Type), []byte(a.ID), []byte(a.Agent), []byte(a.Session), []byte(a.State), []byte(strconv.FormatInt(at, 10)), data}
}

// signedByDaemon reports whether an entry that a daemon writes itself has its
// proof, which is returned.
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

// ProveEntry adds the proof to an entry of the audit log that is about to be
// stored.
func (p *Prover) ProveEntry(a *bridge.AuditEntry) error {
	if len(a.Data) < 3 || a.Data[0] != '{' {
		return bridge.Errorf(bridge.CodeInternal, "audit: the data of a %s is not an object", a.Type)
	}
	at := time.Now().UnixMilli()
	proof := entryProof{At: at, Proof: p.signer.detached(domainEntry, entryParts(*a, a.Data, at)...)}
	a.Data = append(append(append(bytes.Clone(a.Data[:len(a.Data)-1]), entryMark...), Stable(proof)...), '}')
	return nil
}

// EntryEvidence is the result of a check of an audit entry's proof.
type EntryEvidence struct {
	Needed bool   // the entry says that someone did something
	Good   bool   // and has the proof of a daemon
	unique string // what no other entry may have; empty for an entry without a proof
}

// evidence checks the proof of an entry.
func (set JWKS) evidence(a bridge.AuditEntry) EntryEvidence {
	switch a.Type {
	case bridge.AuditDecision:
		var resp bridge.Response
		if oneReading.DecodeKnown(a.Data, &resp) != nil || resp.State != a.State {
			return EntryEvidence{Needed: true}
		}
		if !resp.Decided() {
			return EntryEvidence{unique: "end of " + string(a.ID)}
		}
		r, err := set.VerifyReceipt(resp.Proof)
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

// sameDecision reports whether a response is the one that the receipt was made
// for. The votes are in entries of their own.
func (r Receipt) sameDecision(resp bridge.Response) bool {
	i := bridge.Interaction{
		ID:    r.ID,
		Ask:   bridge.Ask{Kind: r.Kind, Session: r.Session, Route: r.Route},
		Agent: r.Agent, Digest: r.Digest,
		Governance: bridge.Governance{Rule: r.Rule, Risk: r.Risk},
		Placement:  bridge.Placement{Quorum: r.Quorum},
	}
	want, err := receiptOf(i, nil, resp, r.Votes)
	want.Content, want.Audit = r.Content, r.Audit
	return err == nil && resp.Digest == r.Digest && bytes.Equal(Stable(want), Stable(r))
}

// EntryProblem says why an entry is not to be sealed, or in a log that was
// sealed, why it counts as forged. Proven is whether proofs were made when the
// entry was written.
func (set JWKS) EntryProblem(a bridge.AuditEntry, proven bool) (ev EntryEvidence, problem string) {
	ev = set.evidence(a)
	if ev.Needed && !ev.Good && (proven || ev.unique != "" && a.Type != bridge.AuditDecision) {
		return ev, "has no proof that a daemon wrote it"
	}
	return ev, ""
}
