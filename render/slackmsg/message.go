// Path of a click: update.go of bridge/engine → this file, the last one.
// Path of a request: post.go of bridge/engine → this file → pending.go.

package slackmsg

import (
	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Message is a card in Slack's format.
type Message struct {
	// Text is the escaped text of notifications and screen readers.
	Text   string
	Blocks []slack.Block
	// Refused is the error, with code CodeUnsupported, if people cannot answer
	// the request in Slack, or can only deny or decline it. It is nil if they
	// can answer.
	Refused error `json:",omitempty"`
}

// Build writes a view as a message. It returns CodeUnsupported if the view does
// not fit. A message with room for the complete text also lists the options
// whose descriptions are visible only in an open menu. Otherwise, Build shortens
// the text until Slack accepts the message.
func Build(v bridge.View) (Message, error) {
	i := v.Record.Interaction
	if c := render.NewCard(v, describedOnCard(i)); c.Whole {
		if m, whole := build(v, c, maxMessage); whole && finish(m.Blocks, subject(i, c)) {
			return m, nil
		}
	}
	c := render.NewCard(v, listedOnCard(i))
	for _, limit := range []int{maxMessage, 4000, 1500, 500, 120} {
		if m, _ := build(v, c, limit); finish(m.Blocks, subject(i, c)) {
			return m, nil
		}
	}
	return Message{}, bridge.Errorf(bridge.CodeUnsupported, "slack: the card is too long (limit %d characters)", maxMessage)
}

// finish reports whether the blocks fit a message. If they do, it adds what
// screen readers read about their buttons, as far as there is room.
func finish(blocks []slack.Block, subject string) bool {
	room := maxMessage - measure(blocks)
	if room < 0 {
		return false
	}
	describe(blocks, room, func(string) string { return subject })
	return true
}

// build writes the card with at most limit characters of the body, and at most
// limit characters of the questions. It reports whether both are complete. The
// controls of an incomplete card open dialogs that show everything.
func build(v bridge.View, c render.Card, limit int) (Message, bool) {
	id := blockID(v)
	body, whole := clip(c.Body, limit)
	questions, all := clip(c.Questions, limit)
	if whole = whole && all; !whole && c.Whole {
		body, questions = excerpt(c.Body, limit), excerpt(c.Questions, limit)
	}
	m := Message{Text: Escape(render.Cut(c.Notice, maxNotice, cost))}
	m.Blocks = append(m.Blocks, richText("head-"+id, []render.Block{{Kind: render.Heading, Spans: c.Head}}))
	m.write("body-"+id, body)
	m.write("questions-"+id, questions)
	if c.Closed {
		closing, _ := clip(c.Closing, limit)
		m.write("closing-"+id, closing)
		m.closed(v, c, whole)
	} else {
		m.open(v, c, body, whole)
	}
	return m, whole
}

// write adds a document, unless it is empty.
func (m *Message) write(id string, doc []render.Block) {
	if len(doc) > 0 {
		m.Blocks = append(m.Blocks, richText(id, doc))
	}
}

// closed adds the end of a card that takes no more answers.
func (m *Message) closed(v bridge.View, c render.Card, whole bool) {
	id := blockID(v)
	m.Blocks = append(m.Blocks, origin(c, id))
	if row := session(v); len(row) > 0 {
		m.Blocks = append(m.Blocks, slack.NewActionBlock("act-"+id, row...))
	}
	switch {
	case v.Hides() && v.Record.Interaction.Kind == bridge.KindNotice:
		m.Blocks = append(m.Blocks, review(v, id)...)
	case !whole:
		m.Blocks = append(m.Blocks, fullText(v, id)...)
	}
}

// blockID returns the end of the IDs of a card's blocks. A client keeps the
// values that a person entered while the ID of a block stays the same. The IDs
// therefore change with the content, but not with a vote or a reminder.
func blockID(v bridge.View) string { return v.Record.Interaction.ID.Short() + "-" + v.Tag() }

// origin returns the line that says who asks.
func origin(c render.Card, id string) slack.Block {
	return slack.NewContextBlock("from-"+id, plain(c.From, maxSection))
}
