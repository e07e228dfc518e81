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
	j := &logOf{t: t, p: signerOf(t, 1)}
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
		"an event is missing":     {slices.Delete(slices.Clone(j.lines), 3, 4), "entry 1006-0: is followed by fewer entries than were added (1 deleted before"},
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
	if r := verify(counts, append([]AuditLine{counts}, j.lines...), seals); !strings.Contains(strings.Join(r.Problems, "\n"), "duplicate line of counts") {
		t.Errorf("with counts twice: %q", r.Problems)
	}
	for entry, problems := range map[string]int{
		"1001-0": 0, j.lines[0].Entry: 0, j.lines[1].Entry: 1, j.lines[2].Entry: 1, // a log may begin with any entry
	} {
		deleted := counts
		deleted.Deleted = entry
		if r := verify(deleted, j.lines, seals); len(r.Problems) != problems {
			t.Errorf("with a deletion of %s, the report is %+v", entry, r)
		}
	}
	if r := verify(AuditLine{AuditEntry: bridge.AuditEntry{Type: auditCounts}}, j.lines, seals); len(r.Problems) > 0 || !r.Uncounted {
		t.Errorf("without counts, the report is %+v", r)
	}
}

func with(l AuditLine, change func(*AuditLine)) AuditLine {
	change(&l)
	return l
}

// TestTrimmedJournal checks that a journal may start after a seal which states
// that older entries were removed, and that single deletions are counted after it.
func TestTrimmedJournal(t *testing.T) {
	t.Parallel()
	j := &logOf{t: t, p: signerOf(t, 1)}
	j.proven(bridge.AuditGrant, `{"n":1}`)
	gone := j.last.Entry
	j.event(false)
	start, same := j.sealed(true), j.sealed(false)
	j.last.N++
	wrong := j.sealed(false)
	j.last.N--
	j.event(false)
	after := j.last.Entry
	j.proven(bridge.AuditGrant, `{"n":2}`)
	end := j.sealed(false)
	counts := CountsLine(bridge.AuditCounts{Added: j.added, Deleted: gone})
	if r := j.verify([]AuditLine{counts, j.lines[1], start, end}); len(r.Problems) > 0 || r.Entries != 1 {
		t.Errorf("the report is %+v", r)
	}
	deleted := CountsLine(bridge.AuditCounts{Added: j.added, Deleted: after})
	for what, c := range map[string]struct {
		lines    []AuditLine
		problems int
	}{
		"a seal of the start":             {[]AuditLine{counts, j.lines[1], start, same, end}, 0},
		"a seal before the start":         {[]AuditLine{counts, j.lines[1], same, start, end}, 0},
		"a wrong seal of the start":       {[]AuditLine{counts, j.lines[1], start, wrong, end}, 2},
		"a wrong seal before the start":   {[]AuditLine{counts, j.lines[1], wrong, start, end}, 2},
		"an event after the start is out": {[]AuditLine{deleted, j.lines[1], start, end}, 1},
		"without an entry or a seal":      {[]AuditLine{counts}, 1},
	} {
		if r := j.verify(c.lines); len(r.Problems) != c.problems {
			t.Errorf("%s: the report is %+v", what, r)
		}
	}
	if r := j.verify([]AuditLine{counts, j.lines[1], start}); r.Unsealed != 1 {
		t.Errorf("after the start alone, the report is %+v", r)
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
