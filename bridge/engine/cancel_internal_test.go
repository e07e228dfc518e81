package engine

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

type hidesNothing struct{}

func (hidesNothing) Redact(text string) string { return text }

func (hidesNothing) Secret(string) bool { return false }

// TestNoticeIsNotDecided checks that a report about a session that withdraws what
// its person decided leaves a notice alone while it is being posted.
func TestNoticeIsNotDecided(t *testing.T) {
	t.Parallel()
	store := fake.New()
	asked := bridge.Interaction{Agent: "ci", Ask: bridge.Ask{Kind: bridge.KindAsk, Session: "s"}}
	notice := asked
	notice.Kind = bridge.KindNotice
	question, message := store.Put(t, asked), store.Put(t, notice)
	w := &withdrawals{records: store, redactor: &Redactor{hide: hidesNothing{}}}
	all := func(pending []bridge.Interaction) ([]bridge.Interaction, bool) { return pending, false }
	if err := w.decidedElsewhere(t.Context(), "ci", "s", "continued at the terminal", all); err != nil {
		t.Fatal(err)
	}
	if got := store.Get(question.Interaction.ID).State; got != bridge.StateCancelled {
		t.Errorf("the question is %s, want cancelled", got)
	}
	if got := store.Get(message.Interaction.ID).State; got != bridge.StatePending {
		t.Errorf("the notice is %s, want pending", got)
	}
}
