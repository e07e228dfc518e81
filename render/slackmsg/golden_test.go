package slackmsg_test

import (
	"encoding/json"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
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

// TestForms pins the dialogs of decisions. Slack has no private menu.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forms() {
		if f.Control.Action == bridge.ActionMore {
			continue
		}
		m, err := slackmsg.Modal(f.Form, "metadata")
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		rendertest.Golden(t, "form-"+f.Name, m)
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckSlackModal(raw); len(bad) > 0 {
			t.Errorf("slack refuses %s: %v", f.Name, bad)
		}
	}
}

func TestModals(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		if s.View.Record.State.Final() || s.View.Record.Interaction.Kind != bridge.KindAsk {
			continue
		}
		m, err := slackmsg.Modal(bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionForm}}, "metadata")
		if err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "modal-"+s.Name, m)
	}
}
