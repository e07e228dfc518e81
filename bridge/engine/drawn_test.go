package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
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
		if err := w.engine.Drawn(t.Context(), *late.View, nil); err != nil {
			t.Fatal(err)
		}
		late.View.Record = w.drawn(id, "C1").Record
	}
	gone := bridge.View{Record: bridge.Record{Interaction: bridge.Interaction{ID: id[:len(id)-1] + "0"}}}
	if err := w.engine.Drawn(t.Context(), gone, nil); err != nil {
		t.Errorf("the view of a record that no longer exists: %v", err)
	}
}

// TestDraftStaysOnCard checks that a card shows the newest draft, whatever draws it,
// in whatever order, and if the update that answers a click fails.
func TestDraftStaysOnCard(t *testing.T) {
	t.Parallel()
	for name, draws := range map[string]func(w *world, first, second bridge.View) error{
		"the update failed": func(w *world, _, second bridge.View) error {
			return w.engine.Drawn(t.Context(), second, errors.New("too busy"))
		},
		"a job draws it": func(w *world, _, second bridge.View) error {
			_, err := w.store.Mark(t.Context(), second.Record.Interaction.ID, life.Redraw{Destination: second.Destination})
			return err
		},
		"an older update comes last": func(w *world, first, _ bridge.View) error {
			rec := w.get(first.Record.Interaction.ID)
			return errors.Join(w.chat.Update(t.Context(), rec.Messages[0], first, nil), w.engine.Drawn(t.Context(), first, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newSetup())
			id := w.asked(nil, versions, regions, note).Interaction.ID
			first := w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
			second := w.use("ana", id, bridge.ActionChoose, 0, 1, nil)
			if first.View == nil || second.View == nil {
				t.Fatalf("no draft: %+v, %+v", first, second)
			}
			if err := draws(w, *first.View, *second.View); err != nil {
				t.Fatal(err)
			}
			w.eventually("the card shows the newest draft", func() bool {
				v, ok := w.chat.card("C1", id)
				return ok && v.Draft != nil && v.Draft.Answers["version"].Text == "1.1"
			})
		})
	}
}

// TestDraftWhilePosted checks that a card shows the newest draft if someone enters it
// elsewhere while the card is being posted again: what is not posted cannot be updated.
func TestDraftWhilePosted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &part{TB: t} // without a deadline, which fake time does not have
		defer p.end()
		s := newSetup()
		r := routeTo("C1", "ana")
		r.Destinations = append(r.Destinations, bridge.Destination{Platform: "chat", Channel: "C2"})
		s.routes["default"] = r
		w := newWorld(p, s)
		w.chat.outcome = func(ref bridge.MessageRef) outcome {
			if ref.Message == "" {
				return outcome{takes: time.Second}
			}
			return outcome{}
		}
		id := w.asked(nil, versions, regions, note).Interaction.ID
		choose := func(destination, option int) {
			rec := w.get(id)
			v := bridge.NewView(rec, destination, nil, w.keys.Sign)
			said, err := w.engine.Click(t.Context(), bridge.Click{
				Token: v.Token(bridge.ActionChoose, 0, option), Ref: rec.Messages[destination],
				Actor: bridge.Actor{Platform: "chat", User: "U-ana", Name: "ana"},
			})
			if err != nil {
				t.Fatal(err)
			}
			w.said(said, bridge.VerdictDraft, "")
		}
		choose(1, 0)
		if err := w.engine.Deleted(t.Context(), "chat", w.get(id).Messages[1]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2)
		choose(0, 1)
		time.Sleep(time.Minute)
		rec := w.get(id)
		v := w.chat.cards[rec.Messages[1].Channel+" "+rec.Messages[1].Message]
		if v.Draft == nil || v.Draft.Answers["version"].Text != "1.1" {
			t.Errorf("the card that was posted again shows %+v; want version 1.1", v.Draft)
		}
	})
}
