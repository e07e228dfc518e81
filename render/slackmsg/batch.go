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
		m, whole := batchMessage(v, c, items, limit)
		size := measure(m.Blocks)
		if size > maxMessage {
			continue
		}
		describe(m.Blocks, maxMessage-size, itemSubjects(v, c, items))
		if !whole && c.Whole {
			m.Parts = parts(v, c)
		}
		return m, nil
	}
	return Message{}, bridge.Errorf(bridge.CodeUnsupported, "slack: %d requests are too long for one message (%d characters)", len(v.Batch), maxMessage)
}

// plainest is the limit at which items lose their markup too, because many
// small spans may need more space than their text.
const plainest = 150

// batchMessage writes at most limit characters of each item, and reports
// whether every item is complete.
func batchMessage(v bridge.View, c render.Card, items []render.Item, limit int) (Message, bool) {
	id := blockID(v)
	m := Message{Text: Escape(render.Cut(c.Notice, maxNotice, cost))}
	m.Blocks = append(m.Blocks, richText("head-"+id, []render.Block{{Kind: render.Heading, Spans: c.Head}}))
	whole := true
	for _, it := range items {
		n := strconv.Itoa(it.Number) + "-" + id
		text, all := clip(it.Blocks, limit)
		if limit == plainest {
			text, all = []render.Block{{Kind: render.Code, Text: render.Cut(render.PlainText(it.Blocks), limit, cost)}}, false
		}
		whole = whole && all
		m.Blocks = append(m.Blocks, divider("div"+n), richText("body"+n, text))
		if len(it.Decisions) == 0 || v.ReadOnly {
			continue
		}
		m.Blocks = append(m.Blocks, slack.NewActionBlock(itemBlock(it, id), itemDecisions(it)...))
	}
	m.Blocks = append(m.Blocks, divider("div-"+id))
	if c.Closed {
		m.Blocks = append(m.Blocks, origin(c, id))
		return m, whole
	}
	if !whole && !v.Waiting {
		m.Blocks = append(m.Blocks, shortened(v, id))
	}
	m.Blocks = append(append(m.Blocks, notes(v, id)...), origin(c, id), due(c, id))
	if row := forAll(v); len(row) > 0 && !v.ReadOnly {
		m.Blocks = append(m.Blocks, slack.NewActionBlock("all-"+id, row...))
	}
	return m, whole
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

func itemDecisions(it render.Item) []slack.BlockElement {
	i, prefix := it.View.Record.Interaction, "i"+strconv.Itoa(it.Number)+"d"
	row := make([]slack.BlockElement, 0, len(it.Decisions))
	for _, n := range it.Decisions {
		style := styleOf(render.DecisionTone(i, i.Decisions()[n]))
		row = append(row, button(prefix+strconv.Itoa(n), it.View.Token(i.DecisionControl(n)), it.Label(n), style))
	}
	return row
}

func forAll(v bridge.View) []slack.BlockElement {
	var row []slack.BlockElement
	for _, a := range render.ForAll(v) {
		row = append(row, button("all"+strconv.Itoa(a.Option), v.Token(a.Control()), a.Label, slack.StyleDefault))
	}
	return row
}
