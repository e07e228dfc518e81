package slackmsg_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

// TestMessages pins the wire form of every intent in every state.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		m, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		rendertest.Golden(t, s.Name, m)
	}
}

func TestModals(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		if s.View.Record.State.Final() || s.View.Record.Interaction.Kind == bridge.KindApproval {
			continue
		}
		m, err := slackmsg.Modal(bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionForm}}, "metadata")
		if err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "modal-"+s.Name, m)
	}
}
