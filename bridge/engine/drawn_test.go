package engine_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestDrawnTooLate checks that a card does not stay at an older state if the
// update that answers a late click arrives after the update of a later change.
func TestDrawnTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.open(agentCI, shell("make x")).Interaction.ID
	before := w.drawn(id, "C1")
	w.said(w.press("ana", id, "C1", bridge.DecideDeny, ""), bridge.VerdictSettled, "")
	late := w.pressOn("bo", before, "C1", bridge.DecideOnce, "")
	w.said(late, bridge.VerdictLate, "ana")
	if err := w.engine.Delivered(t.Context(), w.get(id)); err != nil {
		t.Fatal(err)
	}
	if now := w.drawn(id, "C1"); now.Record.Delivered.IsZero() {
		t.Fatal("the card does not show the delivery")
	}
	rec := w.get(id)
	for range 2 { // the second time, the card is up to date
		if err := w.chat.Update(t.Context(), rec.Messages[0], *late.View, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.engine.Drawn(t.Context(), *late.View); err != nil {
			t.Fatal(err)
		}
		late.View.Record = w.drawn(id, "C1").Record
	}
	gone := bridge.View{Record: bridge.Record{Interaction: bridge.Interaction{ID: id[:len(id)-1] + "0"}}}
	if err := w.engine.Drawn(t.Context(), gone); err != nil {
		t.Errorf("the view of a record that no longer exists: %v", err)
	}
}
