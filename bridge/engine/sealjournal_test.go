package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker/redistest"
)

// TestDeletedUnsealed checks that an entry that is deleted before it is sealed is
// found: by the sealer, which stops, and in an export.
func TestDeletedUnsealed(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	c := redistest.Start(t).Client(t)
	w := newWorldOn(t, s, c, func() {})
	id := w.asked(nil, confirm).Interaction.ID
	report := func() proof.AuditReport {
		var log bytes.Buffer
		if err := w.engine.Audit.Export(t.Context(), &log); err != nil {
			t.Fatal(err)
		}
		r, err := proof.VerifyAudit(&log, w.engine.Audit.PublicKeys())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	eventually(t, "a journal is sealed", func() bool { return report().Seals > 0 })
	if r := report(); len(r.Problems) > 0 || r.Uncounted > 0 {
		t.Fatalf("the journal: %+v", r)
	}
	key := fmt.Sprintf("nod:{%d}:ev", id.Partition())
	// One script adds an entry and deletes it, so that no seal is between them.
	const drop = `local id = redis.call('XADD', KEYS[1], '*', 'k', 'grant', 'da', '{}') return redis.call('XDEL', KEYS[1], id)`
	if err := c.Eval(t.Context(), drop, []string{key}).Err(); err != nil {
		t.Fatal(err)
	}
	if r := report(); len(r.Problems) == 0 {
		t.Error("the export does not show the deletion")
	}
	eventually(t, "the sealer finds the deletion", func() bool { return w.engine.Audit.Refusals() > 0 })
	if h := w.engine.Audit.Health(); h.State != bridge.HealthDown || !strings.Contains(h.Reason, "deleted") {
		t.Errorf("its health is %+v", h)
	}
}
