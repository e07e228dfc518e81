package slackmsg

import (
	"cmp"
	"strconv"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// buildBatch writes several approvals as one message. Each has its text and its
// own buttons, and one row of buttons is for all.
func buildBatch(v bridge.View) (Message, error) {
	c, items := render.NewBatch(v)
	for _, limit := range []int{maxMessage, 2000, 1000, 400, plainest} {
		m := batchMessage(v, c, items, limit)
		size := measure(m.Blocks)
		if size > maxMessage {
			continue
		}
		describe(m.Blocks, maxMessage-size, itemSubjects(v, c, items))
		return m, nil
	}
	return Message{}, bridge.Errorf(bridge.CodeUnsupported, "slack: %d requests are too long for one message (%d characters)", len(v.Batch), maxMessage)
}

// plainest is the limit at which items lose their markup too, because many
// small spans may need more space than their text.
const plainest = 150

// batchMessage writes at most limit characters of each item. The controls that
// approve an item that is not complete, or all of them, open dialogs that show
// everything.
func batchMessage(v bridge.View, c render.Card, items []render.Item, limit int) Message {
	id := blockID(v)
	m := Message{Text: Escape(render.Cut(c.Notice, maxNotice, cost))}
	m.Blocks = append(m.Blocks, richText("head-"+id, []render.Block{{Kind: render.Heading, Spans: c.Head}}))
	for _, it := range items {
		n := strconv.Itoa(it.Number) + "-" + id
		text, row := batchItem(it, limit)
		m.Blocks = append(m.Blocks, divider("div"+n), richText("body"+n, text))
		if len(row) > 0 && !v.ReadOnly {
			m.Blocks = append(m.Blocks, slack.NewActionBlock(itemBlock(it, id), row...))
		}
	}
	m.Blocks = append(m.Blocks, divider("div-"+id))
	if c.Closed {
		m.Blocks = append(m.Blocks, origin(c, id))
		return m
	}
	m.Blocks = append(append(m.Blocks, notes(v, id)...), origin(c, id), due(c, id))
	if row := forAll(v); len(row) > 0 && !v.ReadOnly {
		m.Blocks = append(m.Blocks, slack.NewActionBlock("all-"+id, row...))
	}
	return m
}

// batchItem returns the text and the controls of an item.
func batchItem(it render.Item, limit int) ([]render.Block, []slack.BlockElement) {
	text, whole := clip(it.Blocks, limit)
	if limit == plainest {
		text, whole = []render.Block{{Kind: render.Code, Text: render.Cut(render.PlainText(it.Blocks), limit, cost)}}, false
	}
	if len(it.Decisions) == 0 {
		return text, nil
	}
	fits := whole || opens(it.View, answering(it.View))
	switch {
	case whole:
	case fits:
		text = append(text, render.Para("✂️ Shortened here. “"+it.ReadLabel()+"” shows all of it."))
	default:
		text = append(text, render.Para("✂️ Shortened here, and too long for Slack, so it can only be denied here."))
		if it.View.Console {
			text = append(text, render.Para("To read and approve it, open the console."))
		}
	}
	return text, itemDecisions(it, whole, fits)
}

// itemSubjects returns a function that returns what the controls of a block are
// about: an item, or all of them.
func itemSubjects(v bridge.View, c render.Card, items []render.Item) func(string) string {
	of := map[string]string{}
	for _, it := range items {
		card := render.NewCard(it.View, func(bridge.Question) bool { return false })
		of[itemBlock(it, blockID(v))] = card.HeadText()
	}
	return func(block string) string { return cmp.Or(of[block], c.HeadText()) }
}

// itemBlock returns the ID of the block with the controls of an item.
func itemBlock(it render.Item, id string) string { return "act" + strconv.Itoa(it.Number) + "-" + id }

func divider(id string) slack.Block {
	return slack.DividerBlock{Type: slack.MBTDivider, BlockID: id}
}

func itemDecisions(it render.Item, whole, fits bool) []slack.BlockElement {
	i, prefix := it.View.Record.Interaction, "i"+strconv.Itoa(it.Number)+"d"
	row := make([]slack.BlockElement, 0, len(it.Decisions))
	for _, n := range it.Decisions {
		d := i.Decisions()[n]
		if d.Approves() && !fits {
			continue
		}
		c, label := control(it.View, n, whole), it.Label(n)
		if !whole && d == bridge.DecideOnce {
			label = it.ReadLabel()
		}
		row = append(row, button(prefix+strconv.Itoa(n), it.View.Token(c.Action, c.Question, c.Option), label, styleOf(render.DecisionTone(i, d))))
	}
	return row
}

func forAll(v bridge.View) []slack.BlockElement {
	var row []slack.BlockElement
	for _, a := range render.ForAll(v) {
		action, question, option := a.Control()
		if action == bridge.ActionInput && !opens(v, bridge.Control{Action: action, Option: option}) {
			continue
		}
		row = append(row, button("all"+strconv.Itoa(a.Option), v.Token(action, question, option), a.Label, slack.StyleDefault))
	}
	return row
}
