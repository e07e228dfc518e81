package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestEventsGo checks that old events are removed although the audit log is kept
// forever: the log is exported as before, every change of it is still found, and
// it goes on. Then its start is trimmed while the events of the time are kept.
func TestEventsGo(t *testing.T) {
	t.Parallel()
	w := newLogged(t)
	decide := func() bridge.ID {
		t.Helper()
		id := w.asked(nil, confirm).Interaction.ID
		w.use("eve", id, bridge.ActionChoose, 0, 0, nil)
		w.answer(id)
		return id
	}
	sealed := func(entries int64) func() bool {
		return func() bool {
			r := w.report()
			return r.Unsealed == 0 && r.Entries == entries && !strings.Contains(w.log.String(), `"event"}`)
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
	decide()
	w.eventually("the log is sealed", sealed(2))
	before := w.log.String()
	if err := w.engine.Audit.Archive(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := w.c.XLen(t.Context(), "nod:{nod}:s:journal").Val(); n != 0 || events() != 0 {
		t.Errorf("%d entries are left in the journal, with %d events", n, events())
	}
	if sealed(2)(); fmt.Sprint(entriesOf(w.log.String())) != fmt.Sprint(entriesOf(before)) {
		t.Errorf("the export has\n%s\nand not\n%s", w.log.String(), before)
	}
	decide()
	w.eventually("the log goes on", sealed(4))
	if r := w.verify(w.log.String()); len(r.Problems) > 0 || r.Uncounted || w.engine.Audit.Health().State == bridge.HealthDown {
		t.Errorf("the report is %+v\n%s", r, w.log.String())
	}
	for _, line := range entriesOf(w.log.String()) {
		if r := w.verify(strings.Replace(w.log.String(), line, "", 1)); len(r.Problems) == 0 {
			t.Errorf("it is not found that this line is missing: %s", line)
		}
		if r := w.verify(strings.Replace(w.log.String(), line, strings.Replace(line, `"agent":"ci"`, `"agent":"cd"`, 1), 1)); len(r.Problems) == 0 {
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
	w.eventually("the log goes on after a trim", sealed(2))
	r := w.verify(w.log.String())
	if len(r.Problems) > 0 || w.engine.Audit.Health().State == bridge.HealthDown || !strings.Contains(w.log.String(), string(last)) {
		t.Errorf("after a trim, the report is %+v\n%s", r, w.log.String())
	}
	if n := events(); kept == 0 || n < kept {
		t.Errorf("%d events are left of %d and those of one more request", n, kept)
	}
}
