package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker/redistest"
)

// TestEventsGo checks that old events are removed although the audit log is kept
// forever: the log is exported as before, every change of it is still found, and
// it goes on. Then its start is trimmed while the events of the time are kept.
func TestEventsGo(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	c := redistest.Start(t).Client(t)
	w := newWorldOn(t, s, c, func() {})
	decide := func() bridge.ID {
		t.Helper()
		id := w.asked(nil, confirm).Interaction.ID
		w.use("eve", id, bridge.ActionChoose, 0, 0, nil)
		w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
		return id
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
			return r.Unsealed == 0 && r.Entries == entries && !strings.Contains(log.String(), `"event"}`)
		}
	}
	entriesOf := func(text string) (out []string) {
		for _, line := range strings.SplitAfter(text, "\n") {
			if line != "" && !strings.Contains(line, `"seal"`) && !strings.Contains(line, `"counts"`) {
				out = append(out, line)
			}
		}
		return out
	}
	events := func() int {
		t.Helper()
		all, _, err := w.store.Events(t.Context(), "", bridge.EventFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	first := decide()
	eventually(t, "the log is sealed", sealed(2))
	before := log.String()
	if err := w.engine.Audit.Archive(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := c.XLen(t.Context(), fmt.Sprintf("nod:{%d}:ev", first.Partition())).Val(); n != 0 || events() != 0 {
		t.Errorf("%d entries are left in the journal, with %d events", n, events())
	}
	if sealed(2)(); fmt.Sprint(entriesOf(log.String())) != fmt.Sprint(entriesOf(before)) {
		t.Errorf("the export has\n%s\nand not\n%s", log.String(), before)
	}
	decide()
	eventually(t, "the log goes on", sealed(4))
	if r := verify(log.String()); len(r.Problems) > 0 || r.Uncounted > 0 || w.engine.Audit.Refusals() > 0 {
		t.Errorf("the report is %+v\n%s", r, log.String())
	}
	for _, line := range entriesOf(log.String()) {
		if r := verify(strings.Replace(log.String(), line, "", 1)); len(r.Problems) == 0 {
			t.Errorf("it is not found that this line is missing: %s", line)
		}
		if r := verify(strings.Replace(log.String(), line, strings.Replace(line, `"agent":"ci"`, `"agent":"cd"`, 1), 1)); len(r.Problems) == 0 {
			t.Errorf("it is not found that this line was changed: %s", line)
		}
	}
	kept := events()
	if err := w.engine.Audit.TrimBefore(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Audit.Archive(t.Context(), time.UnixMilli(1)); err != nil {
		t.Fatal(err)
	}
	last := decide()
	eventually(t, "the log goes on after a trim", sealed(2))
	r := verify(log.String())
	if len(r.Problems) > 0 || r.Unproven > 0 || w.engine.Audit.Refusals() > 0 || !strings.Contains(log.String(), string(last)) {
		t.Errorf("after a trim, the report is %+v\n%s", r, log.String())
	}
	if n := events(); kept == 0 || n < kept {
		t.Errorf("%d events are left of %d and those of one more request", n, kept)
	}
}
