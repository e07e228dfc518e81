package proof

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// logOf is an audit log of one partition under construction.
type logOf struct {
	t     *testing.T
	p     *Prover
	last  Seal
	lines []AuditLine
}

func (l *logOf) add(e bridge.AuditEntry) {
	l.t.Helper()
	e.Partition, e.N, e.Timestamp = l.last.Partition, l.last.N+1, time.Now().UnixMilli()
	e.Link = LinkAfter(e, l.last.Link)
	l.last.N, l.last.Link, l.last.Hash = e.N, e.Link, HashAfter(e, l.last.Hash)
	l.lines = append(l.lines, AuditLine{AuditEntry: e})
}

// proven adds an entry with the proof of a daemon.
func (l *logOf) proven(kind bridge.AuditType, data string) {
	l.t.Helper()
	e := bridge.AuditEntry{Type: kind, Agent: "ci", Data: json.RawMessage(data)}
	if err := l.p.ProveEntry(&e); err != nil {
		l.t.Fatal(err)
	}
	l.add(e)
}

func (l *logOf) seal(trimmed bool) {
	l.t.Helper()
	s := l.last
	s.Trimmed, s.At = trimmed, time.Now().UTC()
	token, err := l.p.signer.Seal(s)
	if err != nil {
		l.t.Fatal(err)
	}
	l.lines = append(l.lines, AuditLine{AuditEntry: bridge.AuditEntry{Partition: s.Partition, Type: "seal", N: s.N}, Seal: token})
}

func (l *logOf) verify(lines []AuditLine, receipts ...Receipt) AuditReport {
	l.t.Helper()
	var b bytes.Buffer
	for _, line := range lines {
		raw, err := json.Marshal(line)
		if err != nil {
			l.t.Fatal(err)
		}
		b.Write(append(raw, '\n', '\n'))
	}
	report, err := VerifyAudit(&b, l.p.signer.PublicKeys(), receipts...)
	if err != nil {
		l.t.Fatal(err)
	}
	return report
}

// written returns a log with an entry of each kind, and the receipt in it.
func written(t *testing.T) (*logOf, Receipt) {
	t.Helper()
	p, _, rec := decided(t)
	stored := *rec.Response
	stored.Proof = rec.Receipt
	l := &logOf{t: t, p: p, last: Seal{Partition: evidenceID.Partition(), Proven: true}}
	l.proven(bridge.AuditRefusal, `{"why":"no responder"}`)
	v := bridge.Vote{Actor: *rec.Response.Actor, State: bridge.StateApproved, At: evidenceAt}
	p.ProveVote(evidenceID, &v)
	l.add(bridge.AuditEntry{Type: bridge.AuditVote, ID: evidenceID, Agent: "tester", Session: "s", Data: Stable(v)})
	l.add(bridge.AuditEntry{Type: bridge.AuditDecision, ID: evidenceID, Agent: "tester", Session: "s", State: rec.State, Data: Stable(stored)})
	l.seal(false)
	l.add(bridge.AuditEntry{Type: bridge.AuditDecision, ID: "other", Agent: "tester", State: bridge.StateExpired, Data: Stable(bridge.Response{State: bridge.StateExpired})})
	l.proven(bridge.AuditGrant, `{"agent":"ci"}`)
	l.seal(false)
	receipt, err := p.signer.PublicKeys().VerifyReceipt(rec.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	return l, receipt
}

// TestVerifyAudit checks that an unchanged log verifies, and that every
// removal, move, change and addition is detected.
func TestVerifyAudit(t *testing.T) {
	t.Parallel()
	l, receipt := written(t)
	got := l.verify(l.lines, receipt)
	if len(got.Problems) > 0 || got.Entries != 5 || got.Seals != 2 || got.Unsealed != 0 || got.Unproven != 0 {
		t.Fatalf("%+v", got)
	}
	l.proven(bridge.AuditStop, `{"session":"s"}`)
	if got := l.verify(l.lines); len(got.Problems) > 0 || got.Unsealed != 1 {
		t.Errorf("with one more: %+v", got)
	}
	change := func(n int, f func(*AuditLine)) []AuditLine {
		out := append([]AuditLine(nil), l.lines...)
		f(&out[n])
		return out
	}
	without := func(n int) []AuditLine { return append(append([]AuditLine(nil), l.lines[:n]...), l.lines[n+1:]...) }
	for what, c := range map[string]struct {
		lines []AuditLine
		why   string
	}{
		"the first":       {without(0), "the entries before it were removed"},
		"one inside":      {without(1), "was removed or moved"},
		"a sealed end":    {append(l.lines[:2:2], l.lines[3]), "the end of the log was removed"},
		"an agent":        {change(1, func(a *AuditLine) { a.Agent = "eve" }), "was changed"},
		"the data":        {change(0, func(a *AuditLine) { a.Data = json.RawMessage(`{"why":"x"}`) }), "was changed"},
		"a time":          {change(4, func(a *AuditLine) { a.Timestamp++ }), "does not match its seal"},
		"a seal":          {change(3, func(a *AuditLine) { a.Seal = earlierReceipt }), "invalid seal"},
		"a seal's place":  {change(3, func(a *AuditLine) { a.Partition++ }), "invalid seal"},
		"another's":       {change(3, func(a *AuditLine) { a.Seal = earlierSeal }), "invalid seal"},
		"nothing of data": {change(5, func(a *AuditLine) { a.Data = json.RawMessage(`{"a":1,"nod_entry":2}`) }), "has no proof"},
		"a vote's data":   {change(1, func(a *AuditLine) { a.Data = json.RawMessage(`[]`) }), "has no proof"},
	} {
		if got := l.verify(c.lines); !strings.Contains(strings.Join(got.Problems, "\n"), c.why) {
			t.Errorf("%s: %q, want %q", what, got.Problems, c.why)
		}
	}
	if got := l.verify(l.lines, Receipt{ID: receipt.ID, State: bridge.StateDenied}); len(got.Problems) != 1 {
		t.Errorf("a receipt that the log does not hold: %+v", got)
	}
	third := l.lines[2]
	receipt.Audit = &bridge.AuditRef{Partition: third.Partition, N: third.N, Link: third.Link}
	if got := l.verify(l.lines, receipt); len(got.Problems) > 0 {
		t.Errorf("a receipt of an earlier version: %+v", got)
	}
	receipt.Audit = &bridge.AuditRef{Partition: third.Partition, N: 1, Link: third.Link}
	if got := l.verify(l.lines, receipt); len(got.Problems) != 1 {
		t.Errorf("a receipt of an earlier version for another entry: %+v", got)
	}
	if _, err := VerifyAudit(strings.NewReader(`"`+strings.Repeat("x", maxAuditLine)), JWKS{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a line that is too long: %v", err)
	}
}

// TestTrimmedAudit checks that a log may start after a seal that states that
// older entries were removed.
func TestTrimmedAudit(t *testing.T) {
	t.Parallel()
	l := &logOf{t: t, p: NewProver(signerOf(t, 1), false), last: Seal{Proven: true}}
	l.proven(bridge.AuditRefusal, `{"why":"a"}`)
	l.seal(true)
	l.proven(bridge.AuditRefusal, `{"why":"b"}`)
	l.seal(false)
	if got := l.verify(l.lines[1:]); len(got.Problems) > 0 || got.Entries != 1 {
		t.Errorf("the report is %+v, want one entry and no problems", got)
	}
	if got := l.verify(l.lines[2:]); len(got.Problems) != 1 {
		t.Errorf("without the seal: %+v", got)
	}
	if got := l.verify(l.lines[1:2]); len(got.Problems) > 0 {
		t.Errorf("with all entries removed: %+v", got)
	}
	if got := l.verify([]AuditLine{l.lines[1], l.lines[3]}); len(got.Problems) != 1 {
		t.Errorf("with a sealed entry removed as well: %+v", got)
	}
}

// TestUnprovenEntries checks that entries without a proof are accepted only
// before the first entry with a proof, and that a proof is accepted only once.
func TestUnprovenEntries(t *testing.T) {
	t.Parallel()
	l := &logOf{t: t, p: NewProver(signerOf(t, 1), true)}
	bare := bridge.AuditEntry{Type: bridge.AuditRefusal, Data: json.RawMessage(`{"why":"a"}`)}
	l.add(bare)
	l.proven(bridge.AuditRefusal, `{"why":"b"}`)
	if got := l.verify(l.lines); len(got.Problems) > 0 || got.Unproven != 1 {
		t.Errorf("before: %+v", got)
	}
	again := l.lines[1].AuditEntry
	l.add(bare)
	l.add(again)
	if got := l.verify(l.lines); len(got.Problems) != 2 || !strings.Contains(got.Problems[1], "repeats an earlier entry") {
		t.Errorf("after: %+v", got)
	}
	if err := l.p.ProveEntry(&bridge.AuditEntry{Type: bridge.AuditGrant, Data: json.RawMessage(`[]`)}); bridge.ErrorCode(err) != bridge.CodeInternal {
		t.Errorf("data that is not an object: %v", err)
	}
	late := l.lines[1].AuditEntry
	late.Timestamp += (time.Hour).Milliseconds()
	if ev := l.p.signer.PublicKeys().evidence(late); ev.Good {
		t.Error("a proof counts an hour later")
	}
}
