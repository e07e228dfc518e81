// Path of a request: message.go → this file, the last one.

package slackmsg

import (
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// open adds the end of a pending card: its notes, its deadline and its controls.
// A card that hides its request has only the control that opens the dialog.
func (m *Message) open(v bridge.View, c render.Card, body []render.Block, whole bool) {
	i, id := v.Record.Interaction, blockID(v)
	if v.Hides() {
		m.Refused = reviewable(v)
	} else if !whole || needsDialog(i) {
		m.Refused = dialog(v, answering(v))
	}
	fits := m.Refused == nil
	if !v.Hides() && (!whole || !fits) {
		m.Blocks = append(m.Blocks, shortened(v, c, body, id, whole, fits)...)
	}
	m.Blocks = append(append(m.Blocks, notes(v, id)...), origin(c, id), due(c, id))
	if v.Waiting {
		return
	}
	m.Blocks = append(m.Blocks, controls(v, id, whole, fits)...)
	if v.Hides() {
		return
	}
	if i.Declinable {
		m.Blocks = append(m.Blocks, decline(v, id))
	}
	if _, inMenu := overflow(v, fits); !inMenu {
		m.Blocks = append(m.Blocks, extras(v, id)...)
	}
}

// notes returns the lines about the state of a request.
func notes(v bridge.View, id string) []slack.Block {
	var out []slack.Block
	for n, note := range render.Notes(v) {
		out = append(out, slack.NewContextBlock("note"+strconv.Itoa(n)+"-"+id, plain(note, maxSection)))
	}
	return out
}

// due returns the line with the deadline and the people who can answer.
func due(c render.Card, id string) slack.Block {
	var b strings.Builder
	for _, s := range c.Due {
		switch {
		case s.Mention != nil:
			b.WriteString(mention(*s.Mention))
		case s.Time != 0:
			b.WriteString(dateMarkup(s))
		default:
			b.WriteString(Escape(s.Text))
		}
	}
	text := render.Cut(b.String(), maxSection, cost)
	return slack.NewContextBlock("until-"+id, &slack.TextBlockObject{Type: slack.MarkdownType, Text: text, Verbatim: true})
}
