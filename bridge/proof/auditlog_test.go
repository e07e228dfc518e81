package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// logOf is a journal under construction.
type logOf struct {
	t     *testing.T
	p     *Signer
	last  Seal
	added int64
	lines []AuditLine
}

// next returns the ID of the next entry or event.
func (l *logOf) next() string {
	l.added++
	l.last.Added, l.last.Entry = l.added, fmt.Sprintf("%d-0", 1000+l.added)
	return l.last.Entry
}

func (l *logOf) add(e bridge.AuditEntry) {
	l.t.Helper()
	e.Entry, e.Timestamp = l.next(), time.Now().UnixMilli()
	l.last.N, l.last.Hash = l.last.N+1, HashAfter(e, l.last.Hash)
	l.lines = append(l.lines, EntryLine(e))
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

// event adds an event, which is in the export only if it is not sealed.
func (l *logOf) event(exported bool) {
	e := bridge.AuditEntry{Entry: l.next(), Type: bridge.AuditEvent, Event: bridge.EventRequest, Agent: "ci"}
	if exported {
		l.lines = append(l.lines, EntryLine(e))
	}
}

// sealed returns a seal of the entries so far.
func (l *logOf) sealed(trimmed bool) AuditLine {
	l.t.Helper()
	s := l.last
	s.Trimmed, s.At = trimmed, time.Now().UTC()
	token, err := l.p.Seal(s)
	if err != nil {
		l.t.Fatal(err)
	}
	return AuditLine{AuditEntry: bridge.AuditEntry{Entry: s.Entry, Type: "seal"}, Seal: token}
}

// seal adds a seal of the entries so far.
func (l *logOf) seal() { l.lines = append(l.lines, l.sealed(false)) }

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
	report, err := VerifyAudit(&b, l.p.PublicKeys(), receipts...)
	if err != nil {
		l.t.Fatal(err)
	}
	return report
}

// written returns a log with an entry of each kind, and the receipt in it.
func written(t *testing.T) (*logOf, Receipt) {
	t.Helper()
	p, _, rec := decided(t)
	l := &logOf{t: t, p: p}
	l.proven(bridge.AuditRefusal, `{"why":"no responder"}`)
	v := bridge.Vote{Actor: *rec.Response.Actor, State: bridge.StateApproved, At: evidenceAt}
	l.proven(bridge.AuditVote, string(Stable(v)))
	l.add(bridge.AuditEntry{Type: bridge.AuditDecision, ID: evidenceID, Agent: "tester", Session: "s", State: rec.State, Data: Stable(bridge.DecisionEntry{Response: *rec.Response, Receipt: rec.Receipt})})
	l.seal()
	l.add(bridge.AuditEntry{Type: bridge.AuditDecision, ID: "other", Agent: "tester", State: bridge.StateExpired, Data: Stable(bridge.Response{State: bridge.StateExpired})})
	l.proven(bridge.AuditGrant, `{"agent":"ci"}`)
	l.seal()
	receipt, err := p.PublicKeys().VerifyReceipt(rec.Receipt)
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
	if len(got.Problems) > 0 || got.Entries != 5 || got.Seals != 2 || got.Unsealed != 0 {
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
		"the first":       {without(0), "1 entries up to this one were removed"},
		"one inside":      {without(1), "1 entries up to this one were removed"},
		"a sealed end":    {append(l.lines[:2:2], l.lines[3]), "1 entries up to this one were removed"},
		"an agent":        {change(1, func(a *AuditLine) { a.Agent = "eve" }), "was changed"},
		"the data":        {change(0, func(a *AuditLine) { a.Data = json.RawMessage(`{"why":"x"}`) }), "was changed"},
		"a time":          {change(4, func(a *AuditLine) { a.Timestamp++ }), "does not match its seal"},
		"no ID":           {change(0, func(a *AuditLine) { a.Entry = "" }), "out of order"},
		"a seal":          {change(3, func(a *AuditLine) { a.Seal = knownReceipt }), "invalid seal"},
		"another's":       {change(3, func(a *AuditLine) { a.Seal = knownSeal }), "does not match its seal"},
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
	if _, err := VerifyAudit(strings.NewReader(`"`+strings.Repeat("x", maxAuditLine)), JWKS{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a line that is too long: %v", err)
	}
}

// TestUnprovenEntries checks that every entry needs a proof, and that a proof is
// accepted only once.
func TestUnprovenEntries(t *testing.T) {
	t.Parallel()
	l := &logOf{t: t, p: signerOf(t, 1)}
	l.proven(bridge.AuditRefusal, `{"why":"b"}`)
	again := l.lines[0].AuditEntry
	l.add(bridge.AuditEntry{Type: bridge.AuditRefusal, Data: json.RawMessage(`{"why":"a"}`)})
	l.add(again)
	if got := l.verify(l.lines); len(got.Problems) != 2 || !strings.Contains(got.Problems[0], "has no proof") || !strings.Contains(got.Problems[1], "repeats an earlier entry") {
		t.Errorf("the report is %+v", got)
	}
	if err := l.p.ProveEntry(&bridge.AuditEntry{Type: bridge.AuditGrant, Data: json.RawMessage(`[]`)}); bridge.ErrorCode(err) != bridge.CodeInternal {
		t.Errorf("data that is not an object: %v", err)
	}
	late := l.lines[0].AuditEntry
	late.Timestamp += (time.Hour).Milliseconds()
	if _, why := l.p.EntryProblem(late); why == "" {
		t.Error("a proof counts an hour later")
	}
}
