package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestEditIsReviewed checks that an edit counts only after the person who made
// it has confirmed exactly that change.
func TestEditIsReviewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.open(agentCI, shell("make x")).Interaction.ID
	view := w.drawn(id, "C1")
	n := slices.Index(view.Record.Interaction.Decisions(), bridge.DecideEdit)
	edit := func(who, command string) bridge.Verdict {
		t.Helper()
		v := w.click(who, "C1", view.Token(bridge.ActionSubmit, n, bridge.OptionEdit), `{"command":"`+command+`"}`, id)
		if v.Kind != bridge.VerdictReview || v.Review == nil || v.Review.View.Draft.Input != `{"command":"`+command+`"}` {
			t.Fatalf("%s %s: %+v", who, command, v)
		}
		w.state(id, bridge.StatePending)
		return v
	}
	first := edit("ana", "make y && z")
	second := edit("ana", "make z && a <b>")
	for who, v := range map[string]bridge.Verdict{"ana": first, "bo": second} { // replaced, and another person's
		w.said(w.click(who, "C1", confirmation(v), "", id), bridge.VerdictInvalid, "Nothing was approved")
		w.state(id, bridge.StatePending)
	}
	w.said(w.click("mal", "C1", confirmation(second), "", id), bridge.VerdictForbidden, "")
	forged := view.Token(bridge.ActionSubmit, n, bridge.EditedOption(`{"command":"make other"}`))
	w.said(w.click("ana", "C1", forged, `{"command":"make other"}`, id), bridge.VerdictInvalid, "Nothing was approved")
	if v := w.click("ana", "C1", confirmation(second), "", id); v.Kind != bridge.VerdictSettled {
		t.Fatalf("the confirmation: %+v", v)
	}
	if rec := w.state(id, bridge.StateApproved); !strings.Contains(string(rec.Response.Input), "make z && a <b>") {
		t.Errorf("approved %s", rec.Response.Input)
	}
	same := w.open(agentCI, shell("make x")).Interaction.ID
	if v := w.press("ana", same, "C1", bridge.DecideEdit, string(shell("make x").Approval.Input)); v.Kind != bridge.VerdictSettled {
		t.Errorf("without a change: %+v", v)
	}
}
