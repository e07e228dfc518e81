package render_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestRan checks that a closed card says what is known of a call: sent, ran, or ran
// before the decision.
func TestRan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sample, ran string
		contested   bool
		want, not   string
	}{
		{"approval-approved", "", true, "sent to deploy-bot", "was told"},
		{"approval-approved", "", false, "deploy-bot was told", "sent to"},
		{"approval-approved", bridge.RanApproved, true, "deploy-bot ran it", "sent to"},
		{"approval-approved", bridge.ReasonAllowed, true, "⌨️ Ran: allowed at the terminal", "sent to"},
		{"approval-denied", "", true, "sent to deploy-bot", "was told"},
		{"approval-denied", bridge.ReasonAllowed, true, "⌨️ Ran: allowed at the terminal", "sent to"},
		{"approval-expired", bridge.ReasonAllowed, true, "⌨️ Ran: allowed at the terminal", "sent to"},
	} {
		v := find(t, c.sample)
		v.Record.Interaction.Contested = c.contested
		if c.ran != "" {
			v.Record.Completion = &bridge.Completion{Ran: c.ran}
		}
		card := render.NewCard(v, never)
		text := plainCard(card)
		if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%s, ran %q: %s", c.sample, c.ran, text)
		}
		if late := c.ran == bridge.ReasonAllowed; late != strings.Contains(text, "That came too late") || late && card.Body[0].Spans[0].Strike {
			t.Errorf("%s, ran %q: %s", c.sample, c.ran, text)
		}
	}
}

// plainCard returns the texts of a card.
func plainCard(c render.Card) string {
	var b strings.Builder
	var add func(blocks []render.Block)
	add = func(blocks []render.Block) {
		for _, block := range blocks {
			b.WriteString(block.Text + "\n")
			for _, s := range block.Spans {
				b.WriteString(s.Text)
			}
			b.WriteString("\n")
			add(block.Inner)
		}
	}
	for _, s := range c.Head {
		b.WriteString(s.Text)
	}
	b.WriteString("\n")
	add(c.Body)
	add(c.Closing)
	return b.String()
}
