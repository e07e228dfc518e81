package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestDeletedUnsealed checks that an entry that is deleted before it is sealed is
// found: by the sealer, which stops, and in an export.
func TestDeletedUnsealed(t *testing.T) {
	t.Parallel()
	w := newLogged(t)
	id := w.asked(nil, confirm).Interaction.ID
	eventually(t, "a journal is sealed", func() bool { return w.report().Seals > 0 })
	if r := w.report(); len(r.Problems) > 0 || r.Uncounted > 0 {
		t.Fatalf("the journal: %+v", r)
	}
	key := fmt.Sprintf("nod:{%d}:ev", id.Partition())
	// One script adds an entry and deletes it, so that no seal is between them.
	const drop = `local id = redis.call('XADD', KEYS[1], '*', 'k', 'grant', 'da', '{}') return redis.call('XDEL', KEYS[1], id)`
	if err := w.c.Eval(t.Context(), drop, []string{key}).Err(); err != nil {
		t.Fatal(err)
	}
	if r := w.report(); len(r.Problems) == 0 {
		t.Error("the export does not show the deletion")
	}
	eventually(t, "the sealer finds the deletion", func() bool { return w.engine.Audit.Refusals() > 0 })
	if h := w.engine.Audit.Health(); h.State != bridge.HealthDown || !strings.Contains(h.Reason, "deleted") {
		t.Errorf("its health is %+v", h)
	}
}

// TestBothLogs checks that what an earlier version appends to its log is sealed
// and exported next to the journal, which starts with the hash of that log, and
// that a change of the earlier log is found.
func TestBothLogs(t *testing.T) {
	t.Parallel()
	w := newLogged(t)
	id := w.asked(nil, confirm).Interaction.ID
	sealed := func(entries int64) func() bool {
		return func() bool {
			r := w.report()
			return r.Unsealed == 0 && r.Entries == entries && r.Seals > 1
		}
	}
	w.earlier(id.Partition(), id)
	w.answer(id)
	eventually(t, "both logs are sealed", sealed(2))
	w.earlier(id.Partition(), id) // an earlier version still runs
	eventually(t, "both logs are sealed again", sealed(3))
	if r := w.verify(w.log.String()); len(r.Problems) > 0 || r.Unproven > 0 || w.engine.Audit.Refusals() > 0 {
		t.Errorf("the report is %+v\n%s", r, w.log.String())
	}
	for n, line := range strings.SplitAfter(strings.TrimSpace(w.log.String()), "\n") {
		if strings.Contains(line, `"seal"`) || strings.Contains(line, `"counts"`) {
			continue
		}
		if r := w.verify(strings.Replace(w.log.String(), line, "", 1)); len(r.Problems) == 0 {
			t.Errorf("without line %d nothing is found: %s", n, line)
		}
	}
}
