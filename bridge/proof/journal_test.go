package proof

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestVerifyJournal checks that a journal verifies without its events, and that
// every removal, move, change and addition of an entry is found.
func TestVerifyJournal(t *testing.T) {
	t.Parallel()
	j := &logOf{t: t, p: NewProver(signerOf(t, 1))}
	var seals []AuditLine
	j.event(false)
	j.proven(bridge.AuditGrant, `{"n":1}`)
	j.event(false)
	seals = append(seals, j.sealed(false)) // of an event
	j.proven(bridge.AuditGrant, `{"n":2}`)
	j.proven(bridge.AuditGrant, `{"n":3}`)
	seals = append(seals, j.sealed(false))
	j.event(false)
	seals = append(seals, j.sealed(false)) // of no new entry
	j.event(true)
	j.proven(bridge.AuditGrant, `{"n":4}`)
	counts := CountsLine(bridge.AuditCounts{Added: j.added, Deleted: "0-0"})
	verify := func(counts AuditLine, entries, seals []AuditLine) AuditReport {
		t.Helper()
		return j.verify(slices.Concat([]AuditLine{counts}, entries, seals))
	}
	if r := verify(counts, j.lines, seals); len(r.Problems) > 0 || r.Entries != 4 || r.Seals != 3 || r.Unsealed != 1 || r.Uncounted {
		t.Fatalf("%+v", r)
	}
	for what, c := range map[string]struct {
		lines []AuditLine
		why   string
	}{
		"the first is missing":    {slices.Delete(slices.Clone(j.lines), 0, 1), "1 entries up to this one were removed"},
		"one inside is missing":   {slices.Delete(slices.Clone(j.lines), 1, 2), "1 entries up to this one were removed"},
		"the end is missing":      {j.lines[:2:2], "1 entries up to this one were removed"},
		"an event is missing":     {slices.Delete(slices.Clone(j.lines), 3, 4), "fewer entries than were added"},
		"the unsealed is missing": {j.lines[:4:4], "fewer entries than were added"},
		"two are swapped":         {[]AuditLine{j.lines[0], j.lines[2], j.lines[1], j.lines[3], j.lines[4]}, "out of order"},
		"a duplicate":             {slices.Insert(slices.Clone(j.lines), 1, j.lines[0]), "out of order"},
		"another agent":           {append([]AuditLine{with(j.lines[0], func(l *AuditLine) { l.Agent = "eve" })}, j.lines[1:]...), "was changed"},
		"another ID":              {append([]AuditLine{with(j.lines[0], func(l *AuditLine) { l.Entry = "1-1" })}, j.lines[1:]...), "was changed"},
		"an entry as an event":    {append([]AuditLine{with(j.lines[0], func(l *AuditLine) { l.Type = bridge.AuditEvent })}, j.lines[1:]...), "were removed"},
	} {
		if r := verify(counts, c.lines, seals); !strings.Contains(strings.Join(r.Problems, "\n"), c.why) {
			t.Errorf("%s: %q, want %q", what, r.Problems, c.why)
		}
	}
	deleted := counts
	deleted.Deleted = j.lines[2].Entry
	if r := verify(deleted, j.lines, seals); len(r.Problems) != 1 {
		t.Errorf("with a deletion, the report is %+v", r)
	}
	if r := verify(AuditLine{AuditEntry: bridge.AuditEntry{Type: auditCounts}}, j.lines, seals); len(r.Problems) > 0 || !r.Uncounted {
		t.Errorf("without counts, the report is %+v", r)
	}
}

func with(l AuditLine, change func(*AuditLine)) AuditLine {
	change(&l)
	return l
}

// TestTrimmedJournal checks that a journal may start after a seal that states
// that older entries were removed, of which single deletions were then counted.
func TestTrimmedJournal(t *testing.T) {
	t.Parallel()
	j := &logOf{t: t, p: NewProver(signerOf(t, 1))}
	j.proven(bridge.AuditGrant, `{"n":1}`)
	gone := j.last.Entry
	j.event(false)
	start := j.sealed(true)
	j.proven(bridge.AuditGrant, `{"n":2}`)
	end := j.sealed(false)
	counts := CountsLine(bridge.AuditCounts{Added: j.added, Deleted: gone})
	if r := j.verify([]AuditLine{counts, j.lines[1], start, end}); len(r.Problems) > 0 || r.Entries != 1 {
		t.Errorf("the report is %+v", r)
	}
	if r := j.verify([]AuditLine{counts, start, end}); len(r.Problems) != 1 {
		t.Errorf("without its entry, the report is %+v", r)
	}
	if r := j.verify([]AuditLine{counts, j.lines[1], end}); len(r.Problems) == 0 {
		t.Error("without its start, nothing is found")
	}
	if r := j.verify([]AuditLine{counts, j.lines[0], j.lines[1], start, end}); len(r.Problems) == 0 {
		t.Error("with an entry before its start, nothing is found")
	}
}
