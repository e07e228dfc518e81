package slackmsg

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// excerpt returns the start of a document: the first lines of its code and of
// what does not fit, and other text within limit.
func excerpt(doc []render.Block, limit int) []render.Block {
	limit = min(limit, maxExcerpt)
	start, _ := clip(doc, limit)
	var out []render.Block
	left := limit
	for k, b := range doc {
		n := cost(render.PlainText([]render.Block{b}))
		cut := false
		if n > left && b.Kind != render.Code && b.Kind != render.Quote {
			b = render.Block{Kind: render.Code, Text: render.PlainText(doc[k:])}
		}
		if b.Kind == render.Code {
			text := render.Cut(firstLines(b.Text, excerptLines), max(left, 1), cost)
			b.Text, cut, n = text, text != b.Text, cost(text)
		}
		if n > left {
			break
		}
		if out, left = append(out, b), left-n; cut {
			break // what follows belongs to the end of the text
		}
	}
	if len(out) == 0 || measure([]slack.Block{richText("", out)}) > 3*limit { // one long text, or many tiny spans
		return start
	}
	return out
}

// firstLines returns the first n lines of a text.
func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// shortened returns the note on a card that does not show everything.
func shortened(v bridge.View, c render.Card, id string, answerable bool) slack.Block {
	text := "✂️ Shortened here."
	for _, b := range c.Body {
		if n := strings.Count(strings.TrimRight(b.Text, "\n"), "\n") + 1; b.Kind == render.Code && n > excerptLines {
			text = fmt.Sprintf("✂️ Lines 1–%d of %d.", excerptLines, n)
			break
		}
	}
	i := v.Record.Interaction
	switch {
	case !answerable:
		text += " All of it is too long for Slack, so it can only be " + refusing(i) + " here. To read and answer it, open the console."
	case !v.ReadOnly:
		text += " “" + render.ReadLabel(i) + "” shows all of it."
	}
	return slack.NewContextBlock("full-"+id, plain(text, maxSection))
}

// refusing says what people can do with a request that they cannot read.
func refusing(i bridge.Interaction) string {
	switch {
	case i.Kind == bridge.KindApproval:
		return "denied"
	case i.LonePlan():
		return "sent back"
	}
	return "declined"
}

// fullText returns the control that opens the whole text of a closed request or
// a notice, or a note if no dialog can hold it.
func fullText(v bridge.View, id string) []slack.Block {
	c := bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionRead}
	if !opens(v, c) {
		text := "✂️ Shortened here. The console has the whole text."
		return []slack.Block{slack.NewContextBlock("full-"+id, plain(text, maxSection))}
	}
	b := button("read", v.Token(c.Action, c.Question, c.Option), render.LabelRead, slack.StyleDefault)
	return []slack.Block{slack.NewActionBlock("full-"+id, b)}
}

// control returns the control of decision n of an approval. On a card that does
// not show everything, no control approves at once.
func control(v bridge.View, n int, whole bool) bridge.Control {
	i := v.Record.Interaction
	action, question, option := i.DecisionControl(n)
	if !whole && action == bridge.ActionChoose && i.Decisions()[n].Approves() {
		action, question, option = bridge.ActionInput, n, bridge.OptionDecide
	}
	return bridge.Control{Action: action, Question: question, Option: option}
}

// review returns the control of a private request, or a note if no dialog can
// hold the request.
func review(v bridge.View, id string) slack.Block {
	c := render.ReviewControl(v.Record.Interaction)
	revealed := v
	if revealed.Revealed = true; !opens(revealed, c) {
		return slack.NewContextBlock("full-"+id, plain("✂️ This is too long for Slack. To read and answer it, open the console.", maxSection))
	}
	return slack.NewActionBlock("act-"+id, button("review", v.Token(c.Action, c.Question, c.Option), render.LabelReview, slack.StylePrimary))
}

// reviewControls returns the controls that answer a private request in its
// dialog. Those of a question are its inputs.
func reviewControls(v bridge.View) []slack.Block {
	i := v.Record.Interaction
	var out []slack.Block
	if i.Kind == bridge.KindApproval || i.LonePlan() {
		out = controls(v, blockID(v), true, true)
	}
	if i.Declinable {
		b := button("decline", v.Token(bridge.ActionDecline, 0, 0), render.LabelDecline, slack.StyleDefault)
		out = append(out, slack.NewActionBlock("decline-"+blockID(v), b))
	}
	return out
}

// answering returns the control that approves or answers on a card that does not
// show everything. It opens a dialog that does.
func answering(v bridge.View) bridge.Control {
	i := v.Record.Interaction
	switch {
	case i.Kind == bridge.KindApproval:
		return control(v, i.OnCard()[0], false)
	case i.LonePlan():
		return bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionDecide}
	}
	return bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionForm}
}

// opens reports whether a dialog can show everything that its control needs.
func opens(v bridge.View, c bridge.Control) bool {
	_, err := Modal(bridge.Form{View: v, Control: c}, strings.Repeat("x", maxMetadata))
	return err == nil
}

// wholeText returns everything that people decide about in a request.
func wholeText(v bridge.View) []slack.Block {
	c := render.NewCard(v, func(bridge.Question) bool { return false })
	doc := append([]render.Block{{Kind: render.Heading, Spans: c.Head}}, c.Body...)
	if c.Closed {
		doc = append(append(doc, c.Questions...), c.Closing...)
	}
	return inBlocks(doc)
}

// wholeBatch returns everything that people decide about in the pending requests
// of a batch.
func wholeBatch(v bridge.View) []slack.Block {
	var doc []render.Block
	_, items := render.NewBatch(v)
	for _, it := range items {
		if !it.View.Record.State.Final() {
			doc = append(doc, it.Blocks...)
		}
	}
	return inBlocks(doc)
}

// inBlocks writes a document as blocks of moderate size. It never leaves out any
// text. Many tiny paragraphs lose their markup, which is far larger.
func inBlocks(doc []render.Block) []slack.Block {
	var out []slack.Block
	var group []render.Block
	used := 0
	flush := func() {
		b := richText("", group)
		if measure([]slack.Block{b}) > 3*maxBlock {
			b = richText("", []render.Block{{Kind: render.Code, Text: render.PlainText(group)}})
		}
		out, group, used = append(out, b), nil, 0
	}
	add := func(b render.Block, n int) {
		if used+n > maxBlock && len(group) > 0 {
			flush()
		}
		group, used = append(group, b), used+n
	}
	for _, b := range doc {
		text := b.Text
		if b.Kind != render.Code {
			text = render.PlainText([]render.Block{b})
		}
		if n := wireCost(text) + 2; n <= maxBlock {
			add(b, n)
			continue
		}
		for _, piece := range render.Split(text, maxBlock, wireCost) {
			add(render.Block{Kind: render.Code, Text: piece}, maxBlock)
		}
	}
	if len(group) > 0 {
		flush()
	}
	return out
}
