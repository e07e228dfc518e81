package slackmsg

import (
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// accessibleKey is the JSON of an accessibility label without its text.
const accessibleKey = `,"accessibility_label":""`

// subject returns the subject of the controls of a card, in one line.
func subject(i bridge.Interaction, c render.Card) string {
	if i.Kind == bridge.KindApproval || i.Prompt == "" || i.Private {
		return c.HeadText()
	}
	return render.Line(i.Prompt)
}

// accessible returns the text that a screen reader reads for a button: its
// label and its subject, because several buttons have the same label.
func accessible(label, about string) string {
	return render.Cut(strings.TrimSuffix(label, "…")+": "+about, maxButton, cost)
}

// describe adds texts for screen readers to the buttons of actions blocks, if
// the message has room after the visible text. About returns the subject of the
// buttons of a block.
func describe(blocks []slack.Block, room int, about func(block string) string) {
	for _, b := range blocks {
		row, ok := b.(*slack.ActionBlock)
		if !ok || row.Elements == nil {
			continue
		}
		for _, e := range row.Elements.ElementSet {
			button, ok := e.(*slack.ButtonBlockElement)
			if !ok || button.AccessibilityLabel != "" {
				continue
			}
			text := accessible(button.Text.Text, about(row.BlockID))
			if room -= wireCost(text) + len(accessibleKey); room < 0 {
				return
			}
			button.AccessibilityLabel = text
		}
	}
}
