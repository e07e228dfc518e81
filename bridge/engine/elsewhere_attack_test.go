package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// TestHostileClicks checks clicks that are forged, that come from elsewhere, that
// are repeated, or that come late.
func TestHostileClicks(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w, _, second := twoDaemons(t, s)
	id, twin := w.open(agentCI, shell("make x")).Interaction.ID, w.open(agentCI, shell("make y")).Interaction.ID
	card := w.drawn(id, "C1")
	w.drawn(twin, "C1")
	action, question, option := card.Record.Interaction.DecisionControl(1)
	token := card.Token(action, question, option)
	for n := range len(token) {
		forged := []byte(token)
		forged[n] ^= 1
		if v := w.click("ana", "C1", string(forged), "", id); v.Kind == bridge.VerdictSettled {
			t.Fatalf("a token with another byte %d: %+v", n, v)
		}
	}
	w.said(w.click("ana", "C9", token, "", id), bridge.VerdictUnknown, "")
	w.said(w.click("eve", "C1", token, "", id), bridge.VerdictForbidden, "")
	w.state(id, bridge.StatePending)
	w.state(twin, bridge.StatePending)

	w.said(w.pressOn("ana", card, "C1", bridge.DecideDeny, ""), bridge.VerdictSettled, "")
	before := w.state(id, bridge.StateDenied)
	w.engine = second
	for range 2 {
		w.pressOn("ana", card, "C1", bridge.DecideDeny, "") // a repeat
		w.said(w.pressOn("bo", card, "C1", bridge.DecideOnce, ""), bridge.VerdictLate, "ana")
	}
	after := w.state(id, bridge.StateDenied)
	if after.Receipt != before.Receipt || after.Receipt == "" || *after.Audit != *before.Audit {
		t.Errorf("the decision was %+v and became %+v", before.Response, after.Response)
	}
	w.state(twin, bridge.StatePending)
}

// redraws is a Store that counts the requested updates of cards.
type redraws struct {
	core.Port
	n atomic.Int32
}

func (r *redraws) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	if _, is := m.(life.Redraw); is {
		r.n.Add(1)
	}
	return r.Port.Mark(ctx, id, m)
}

// TestDrawnUnchanged checks that the answer to a late click causes an update of the card only if the request has changed since.
func TestDrawnUnchanged(t *testing.T) {
	t.Parallel()
	s := newSetup()
	w := newWorld(t, s)
	first := w.engine
	id := w.open(agentCI, shell("make x")).Interaction.ID
	card := w.drawn(id, "C1")
	count := &redraws{Port: w.store}
	w.between = count
	w.reload(s)
	second := w.engine
	w.engine = first
	w.said(w.pressOn("ana", card, "C1", bridge.DecideDeny, ""), bridge.VerdictSettled, "")
	w.engine = second
	for want := range int32(2) {
		late := w.pressOn("bo", card, "C1", bridge.DecideOnce, "")
		w.said(late, bridge.VerdictLate, "ana")
		if want == 1 { // the second click comes before the delivery, and its card after it
			if err := first.Delivered(t.Context(), w.get(id)); err != nil {
				t.Fatal(err)
			}
		}
		if err := second.Drawn(t.Context(), *late.View, nil); err != nil {
			t.Fatal(err)
		}
		if got := count.n.Load(); got != want {
			t.Errorf("%d updates, want %d", got, want)
		}
	}
}
