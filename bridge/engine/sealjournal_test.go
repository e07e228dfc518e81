package engine_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestDeletedUnsealed checks that an entry that is deleted before it is sealed is
// found: by the sealer, which stops, and in an export.
func TestDeletedUnsealed(t *testing.T) {
	t.Parallel()
	w := newLogged(t)
	w.asked(nil, confirm)
	w.eventually("a journal is sealed", func() bool { return w.report().Seals > 0 })
	if r := w.report(); len(r.Problems) > 0 || r.Uncounted {
		t.Fatalf("the journal: %+v", r)
	}
	key := "nod:{nod}:s:journal"
	// One script adds an entry and deletes it, so that no seal is between them.
	const drop = `local id = redis.call('XADD', KEYS[1], '*', 'k', 'grant', 'd', '{}') return redis.call('XDEL', KEYS[1], id)`
	if err := w.c.Eval(t.Context(), drop, []string{key}).Err(); err != nil {
		t.Fatal(err)
	}
	if r := w.report(); len(r.Problems) == 0 {
		t.Error("the export does not show the deletion")
	}
	w.eventually("the sealer finds the deletion", func() bool { return w.engine.Audit.Health().State == bridge.HealthDown })
	if h := w.engine.Audit.Health(); h.State != bridge.HealthDown || !strings.Contains(h.Reason, "deleted") {
		t.Errorf("its health is %+v", h)
	}
}
