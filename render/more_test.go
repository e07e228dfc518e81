package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
)

// TestMenu checks that a menu states everything that each longer approval
// covers, offers each decision that is not on the card once, and offers only
// denials to people who may only deny.
func TestMenu(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forms() {
		i := f.View.Record.Interaction
		if f.Control.Action != bridge.ActionMore {
			continue
		}
		m := render.NewMenu(f.Form)
		var labels []string
		for _, c := range m.Choices {
			labels = append(labels, c.Label)
		}
		if got := len(slices.Compact(slices.Clone(labels))); got != len(labels) || !f.DenyOnly && got != len(i.More()) {
			t.Errorf("%s offers %q", f.Name, labels)
		}
		for n, c := range m.Choices {
			d := i.Decisions()[i.More()[min(n, len(i.More())-1)]]
			if f.DenyOnly {
				if strings.Contains(strings.ToLower(c.Label), "allow") || strings.Contains(c.Label, "Edit") {
					t.Errorf("%s offers %q", f.Name, c.Label)
				}
				continue
			}
			says(t, f.Name, i, d, c)
		}
	}
}

// says checks that a choice states all that its decision covers.
func says(t *testing.T, name string, i bridge.Interaction, d bridge.Decision, c render.Choice) {
	t.Helper()
	text := render.PlainText(c.Text)
	for _, want := range i.CoverageShown(bridge.Scope(d)) {
		if !strings.Contains(text, render.Clean(want)) {
			t.Errorf("%s: %s does not say %q:\n%s", name, d, want, text)
		}
	}
	if text == "" {
		t.Errorf("%s: %s has no text", name, d)
	}
}

// TestNoCoverageOnCards checks that a card states only what a click on it
// covers: the text of longer approvals is next to their controls.
func TestNoCoverageOnCards(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"approval", "approval-rule", "approval-able"} {
		v := find(t, name)
		_, text := card(v)
		for _, word := range []string{"may repeat", "may do anything", "remembers"} {
			if strings.Contains(text, word) {
				t.Errorf("%s says %q:\n%s", name, word, text)
			}
		}
	}
	v := find(t, "approval-able")
	v.Record.Interaction.Approval.ScopeNotes[bridge.ScopeOnce] = "only <now>"
	if _, text := card(v); !strings.Contains(text, `describes this choice as "only <now>"`) {
		t.Errorf("what the agent says of the approval on the card is not there:\n%s", text)
	}
}
