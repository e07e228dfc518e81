package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

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

func (a AuditEntry) proofBytes(data []byte, at int64) [][]byte {
	return [][]byte{[]byte(a.Type), []byte(a.ID), []byte(a.Agent), []byte(a.Session), []byte(a.State), []byte(strconv.FormatInt(at, 10)), data}
}

// Audit implements Auditor.
func (s provenStore) Audit(ctx context.Context, a AuditEntry) error {
	if len(a.Data) < 3 || a.Data[0] != '{' {
		return Errorf(CodeInternal, "audit: the data of a %s is not an object", a.Type)
	}
	at := time.Now().UnixMilli()
	proof := entryProof{at, s.p.signer.detached(domainEntry, a.proofBytes(a.Data, at)...)}
	a.Data = append(append(append(bytes.Clone(a.Data[:len(a.Data)-1]), entryMark...), stable(proof)...), '}')
	return s.Store.Audit(ctx, a)
}

// signedByDaemon reports whether an entry that a daemon writes itself has its
// proof, which is returned.
func (set JWKS) signedByDaemon(a AuditEntry) (string, bool) {
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
	return p.Proof, set.detachedIs(p.Proof, domainEntry, a.proofBytes(bare, p.At)...)
}

// evidence is the result of a check of an audit entry's proof.
type evidence struct {
	needed bool   // the entry says that someone did something
	good   bool   // and has the proof of a daemon
	unique string // what no other entry may have; empty for an entry without a proof
}

// evidence checks the proof of an entry.
func (set JWKS) evidence(a AuditEntry) evidence {
	switch a.Type {
	case AuditDecision:
		var resp Response
		if oneReading.DecodeKnown(a.Data, &resp) != nil || resp.State != a.State {
			return evidence{needed: true}
		}
		if !resp.decided() {
			return evidence{unique: "end of " + string(a.ID)}
		}
		r, err := set.VerifyReceipt(resp.Proof)
		good := err == nil && r.ID == a.ID && r.Agent == a.Agent && r.Session == a.Session && r.sameDecision(resp)
		return evidence{true, good, "end of " + string(a.ID)}
	case AuditVote:
		var v Vote
		if oneReading.DecodeKnown(a.Data, &v) != nil {
			return evidence{needed: true}
		}
		return evidence{true, set.detachedIs(v.Proof, domainVote, []byte(a.ID), v.proofBytes()), v.Proof}
	}
	proof, good := set.signedByDaemon(a)
	return evidence{true, good, proof}
}

// sameDecision reports whether a response is the one that the receipt was made
// for. The votes are in entries of their own.
func (r Receipt) sameDecision(resp Response) bool {
	i := Interaction{ID: r.ID, Kind: r.Kind, Agent: r.Agent, Session: r.Session, Route: r.Route, Digest: r.Digest, Rule: r.Rule, Risk: r.Risk, Quorum: r.Quorum}
	want, err := receiptOf(i, nil, resp, r.Votes)
	want.Content, want.Audit = r.Content, r.Audit
	return err == nil && resp.Digest == r.Digest && bytes.Equal(stable(want), stable(r))
}

// entryProblem says why an entry is not to be sealed, or in a log that was
// sealed, why it counts as forged. Proven is whether proofs were made when the
// entry was written.
func (set JWKS) entryProblem(a AuditEntry, proven bool) (ev evidence, problem string) {
	ev = set.evidence(a)
	if ev.needed && !ev.good && (proven || ev.unique != "" && a.Type != AuditDecision) {
		return ev, "has no proof that a daemon wrote it"
	}
	return ev, ""
}

// unsealable says why an entry cannot be sealed after what the last seal
// vouches for. It is empty if the entry can. Entries up to base may be those of
// an earlier version.
func (e *Engine) unsealable(a AuditEntry, last *Seal, base int64) string {
	if a.N != last.N+1 || a.Link != a.link(last.Link) {
		return "was changed, removed or reordered before it was sealed"
	}
	proven := last.Proven || e.prover.strict && a.N > base
	ev, why := e.PublicKeys().entryProblem(a, proven)
	if why != "" && e.prover.strict {
		return why
	}
	last.Proven = proven || ev.good
	return ""
}

// sealHealth holds the reasons why the audit log cannot be sealed, by partition.
type sealHealth struct {
	mu      sync.Mutex
	refused map[int]string
}

// refuseToSeal notes, and logs once, why a partition is no longer sealed.
func (e *Engine) refuseToSeal(partition int, why string) {
	h := &e.sealing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[int]string{}
	}
	if h.refused[partition] != why {
		h.refused[partition] = why
		e.log.Error("AUDIT: the log is no longer sealed", "partition", partition, "why", why)
	}
}

// AuditHealth reports whether the audit log can be sealed, and what was found in
// it if it cannot.
func (e *Engine) AuditHealth() Health {
	e.sealing.mu.Lock()
	defer e.sealing.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(e.sealing.refused)) {
		return Health{State: HealthDown, Reason: "the audit log is no longer sealed: partition " + strconv.Itoa(p) + ", " + e.sealing.refused[p]}
	}
	return Health{State: HealthUp}
}

// AuditRefusals counts the partitions of the audit log that are no longer
// sealed because of what was found in them.
func (e *Engine) AuditRefusals() int64 {
	e.sealing.mu.Lock()
	defer e.sealing.mu.Unlock()
	return int64(len(e.sealing.refused))
}
