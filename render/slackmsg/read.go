package slackmsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// clip keeps the start of a document and reports whether that is the complete
// text. Many tiny paragraphs are far larger as blocks than as text, so such a
// document loses its markup before it loses any text.
func clip(doc []render.Block, limit int) ([]render.Block, bool) {
	text := render.PlainText(doc)
	whole := cost(text) <= limit
	if whole && fits(doc, 3*limit) {
		return doc, true
	}
	size := func(doc []render.Block) int { return cost(render.PlainText(doc)) }
	if out := render.Excerpt(doc, limit, size, cost); !whole && fits(out, 3*limit) {
		return out, false
	}
	return []render.Block{render.Flat(doc, render.Cut(text, limit, cost))}, whole
}

// excerpt returns the start of a document: the first lines of code and of
// blocks that do not fit, and other text within limit.
func excerpt(doc []render.Block, limit int) []render.Block {
	limit = min(limit, maxExcerpt)
	start, _ := clip(doc, limit)
	var out []render.Block
	left := limit
	for _, b := range doc {
		n := cost(render.PlainText([]render.Block{b}))
		cut := false
		if n > left && b.Kind != render.Code && b.Kind != render.Quote {
			if len(b.Items) > excerptLines {
				b.Items = append(slices.Clip(b.Items[:excerptLines]), []render.Block{render.Para("…")})
			}
			size := func(doc []render.Block) int { return cost(render.PlainText(doc)) }
			out = append(out, render.Excerpt([]render.Block{b}, left, size, cost)...)
			break
		}
		if b.Kind == render.Code {
			text := render.Cut(firstLines(b.Text, excerptLines), max(left, 1), cost)
			b.Text, cut, n = text, text != b.Text, cost(text)
		}
		if n > left {
			break
		}
		if out, left = append(out, b), left-n; cut {
			break // the remaining blocks would follow a cut text
		}
	}
	if len(out) == 0 || !fits(out, 3*limit) { // one long text, or many tiny spans
		return start
	}
	return out
}

// firstLines returns the first n lines of a text.
func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// shortened returns the note on a card that is incomplete, or that people
// cannot answer in Slack.
func shortened(v bridge.View, c render.Card, body []render.Block, id string, whole, answerable bool) []slack.Block {
	text := ""
	if !whole {
		text = render.Shortened(render.Extent(c.Body, body)) + " "
	}
	i := v.Record.Interaction
	switch {
	case answerable && !v.Waiting:
		text += "“" + render.ReadLabel(i) + "” shows the full text."
	case answerable:
	case whole:
		text += "This form is too large for Slack."
		if i.Declinable {
			text += " It can only be " + refusing(i) + " here."
		}
	default:
		text += "The full text is too long for Slack, so the request can only be " + refusing(i) + " here."
	}
	if answerable {
		return []slack.Block{slack.NewContextBlock("full-"+id, plain(strings.TrimSpace(text), maxSection))}
	}
	return elsewhere(v, id, text, "To read and answer it, open the console")
}

// elsewhere returns a note about what people can do in the console, if the
// console is enabled.
func elsewhere(v bridge.View, id, text, what string) []slack.Block {
	switch {
	case !v.Console:
		text += fmt.Sprintf(" A dialog holds %d bytes and %d blocks.", maxView, maxViewBlocks)
	case v.ConsoleURL == "":
		text += " " + what + "."
	default:
		text += " " + what + ":"
	}
	out := []slack.Block{slack.NewContextBlock("full-"+id, plain(strings.TrimSpace(text), maxSection))}
	if v.Console && v.ConsoleURL != "" {
		url := strings.TrimRight(v.ConsoleURL, "/") + "/console/#/i/" + string(v.Record.Interaction.ID)
		out = append(out, richText("console-"+id, []render.Block{{Kind: render.Paragraph, Spans: []render.Span{{Text: url, URL: url}}}}))
	}
	return out
}

// refusing returns the participle for the refusal of a request that people cannot
// read in Slack.
func refusing(i bridge.Interaction) string {
	switch {
	case i.Kind == bridge.KindApproval:
		return "denied"
	case i.LonePlan():
		return "sent back"
	}
	return "closed without an answer"
}

// fullText returns the control that opens the complete text of a closed request
// or a notice, or a note if no dialog can hold it.
func fullText(v bridge.View, id string) []slack.Block {
	c := bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionRead}
	if !opens(v, c) {
		return elsewhere(v, id, "✂️ Shortened here. The full text is too long for Slack.", "To read it, open the console")
	}
	b := button("read", v.Token(c.Action, c.Question, c.Option), render.LabelRead, slack.StyleDefault)
	return []slack.Block{slack.NewActionBlock("full-"+id, b)}
}

// control returns the control of decision n of an approval. On an incomplete
// card, no control approves at once.
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
func review(v bridge.View, id string) []slack.Block {
	if reviewable(v) != nil {
		return elsewhere(v, id, "✂️ This is too long for Slack.", "To read and answer it, open the console")
	}
	c := render.ReviewControl(v.Record.Interaction)
	return []slack.Block{slack.NewActionBlock("act-"+id, button("review", v.Token(c.Action, c.Question, c.Option), render.LabelReview, slack.StylePrimary))}
}

// reviewable returns the reason why no dialog can hold a private request, or
// nil.
func reviewable(v bridge.View) error {
	v.Revealed = true
	return dialog(v, render.ReviewControl(v.Record.Interaction))
}

// reviewControls returns the controls that answer a private request in its
// dialog. The controls of a question are its inputs.
func reviewControls(v bridge.View) []slack.Block {
	i := v.Record.Interaction
	var out []slack.Block
	if i.Kind == bridge.KindApproval || i.LonePlan() {
		out = controls(v, blockID(v), true, true)
	}
	if i.Declinable {
		out = append(out, decline(v, blockID(v)))
	}
	c := render.NewCard(v, listedOnCard(i))
	describe(out, maxView, func(string) string { return subject(i, c) })
	return out
}

// answering returns the control that approves or answers on an incomplete card.
// It opens a dialog that shows everything.
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

// opens reports whether a dialog can show the complete request of a control.
func opens(v bridge.View, c bridge.Control) bool { return dialog(v, c) == nil }

// dialog returns the reason why no dialog can show the complete request of a
// control, or nil.
func dialog(v bridge.View, c bridge.Control) error {
	_, err := Modal(bridge.Form{View: v, Control: c}, strings.Repeat("x", maxMetadata))
	return err
}

// needsDialog reports whether a request is answered in a dialog even if the
// card is complete.
func needsDialog(i bridge.Interaction) bool {
	f, lone := i.Lone()
	return i.Kind == bridge.KindAsk && !i.LonePlan() && (!lone || needsForm(f.Question))
}

// needsForm reports whether a single question is answered in a modal rather
// than in the message.
func needsForm(q bridge.Question) bool {
	return q.FreeText() || len(q.Options) > maxInline || (q.Multiple() && q.AllowOther)
}

// wholeText returns the complete text that people decide on. It leaves out the
// headline if that is the title of the dialog.
func wholeText(v bridge.View, titled bool) []slack.Block {
	c := render.NewCard(v, func(bridge.Question) bool { return false })
	doc := c.Body
	if !titled {
		doc = append([]render.Block{{Kind: render.Heading, Spans: c.Head}}, doc...)
	}
	if c.Closed {
		doc = append(append(doc, c.Questions...), c.Closing...)
	}
	return inBlocks(doc)
}

// wholePrivate is wholeText. For a private request, it adds the line that says
// who asks, because the card of such a request does not name the session and
// the tool.
func wholePrivate(v bridge.View, titled bool) []slack.Block {
	out := wholeText(v, titled)
	if v.Record.Interaction.Private {
		out = append(out, origin(render.NewCard(v, func(bridge.Question) bool { return false }), blockID(v)))
	}
	return out
}

// inBlocks writes a document as blocks of moderate size. It never omits text.
// Many tiny paragraphs lose their markup, which is far larger than their text.
func inBlocks(doc []render.Block) []slack.Block {
	var out []slack.Block
	var group []render.Block
	used := 0
	flush := func() {
		b := richText("", group)
		if !fits(group, 3*maxBlock) {
			b = richText("", []render.Block{render.Flat(group, render.PlainText(group))})
		}
		out, group, used = append(out, b), nil, 0
	}
	add := func(b render.Block, n int) {
		if used+n > maxBlock && len(group) > 0 {
			flush()
		}
		group, used = render.Append(group, b), used+n
	}
	var write func(render.Block)
	write = func(b render.Block) {
		text := b.Text
		if b.Kind != render.Code {
			text = render.PlainText([]render.Block{b})
		}
		if n := wireCost(text) + 2; n <= maxBlock {
			add(b, n)
			return
		}
		if parts := render.Divide(b); len(parts) > 1 {
			for _, part := range parts {
				write(part)
			}
			return
		}
		for _, piece := range render.Split(text, maxBlock, wireCost) {
			add(render.Flat([]render.Block{b}, piece), maxBlock)
		}
	}
	for _, b := range doc {
		write(b)
	}
	if len(group) > 0 {
		flush()
	}
	return out
}
