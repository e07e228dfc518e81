package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
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

// TestBothLogs checks that what an earlier version appends to its log is sealed
// and exported next to the journal, which starts with the hash of that log, and
// that a change of the earlier log is found.
func TestBothLogs(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	c := redistest.Start(t).Client(t)
	code, err := os.ReadFile("../../broker/testdata/audit-1.lua")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldOn(t, s, c, func() {})
	id := w.asked(nil, confirm).Interaction.ID
	prefix := fmt.Sprintf("nod:{%d}:", id.Partition())
	earlier := func() {
		t.Helper()
		e := bridge.AuditEntry{Type: bridge.AuditRefusal, ID: id, Agent: "ci", Data: json.RawMessage(`{"why":"x"}`)}
		if err := proof.NewProver(s.signer, false).ProveEntry(&e); err != nil {
			t.Fatal(err)
		}
		if err := c.Eval(t.Context(), string(code), []string{prefix + "au", prefix + "auh"},
			string(id), string(e.Type), e.Agent, "", "", string(e.Data)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	verify := func(text string) proof.AuditReport {
		t.Helper()
		r, err := proof.VerifyAudit(strings.NewReader(text), w.engine.Audit.PublicKeys())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	sealed := func(entries int64) func() bool {
		return func() bool {
			log.Reset()
			if err := w.engine.Audit.Export(t.Context(), &log); err != nil {
				t.Fatal(err)
			}
			r := verify(log.String())
			return r.Unsealed == 0 && r.Entries == entries && r.Seals > 1
		}
	}
	earlier()
	w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
	eventually(t, "both logs are sealed", sealed(2))
	earlier() // an earlier version still runs
	eventually(t, "both logs are sealed again", sealed(3))
	if r := verify(log.String()); len(r.Problems) > 0 || r.Unproven > 0 || w.engine.Audit.Refusals() > 0 {
		t.Errorf("the report is %+v\n%s", r, log.String())
	}
	for n, line := range strings.SplitAfter(strings.TrimSpace(log.String()), "\n") {
		if strings.Contains(line, `"seal"`) || strings.Contains(line, `"counts"`) {
			continue
		}
		if r := verify(strings.Replace(log.String(), line, "", 1)); len(r.Problems) == 0 {
			t.Errorf("without line %d nothing is found: %s", n, line)
		}
	}
}
