// Path of a click and of a request: deliver.go of bridge/engine → this file, the last one.

package slackmsg

import (
	"slices"
	"strconv"
	"strings"

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
// not fit.
func Build(v bridge.View) (Message, error) {
	if c := render.NewCard(v, describedOnCard(v.Record.Interaction)); c.Whole {
		if m, ok := atOnce(v, c); ok {
			return m, nil
		}
	}
	c := render.NewCard(v, listedOnCard(v.Record.Interaction))
	for _, limit := range []int{maxMessage, 4000, 1500, 500, 120} {
		m, _ := build(v, c, limit)
		size := measure(m.Blocks)
		if size > maxMessage {
			continue
		}
		describe(m.Blocks, maxMessage-size, func(string) string { return subject(v.Record.Interaction, c) })
		return m, nil
	}
	return Message{}, bridge.Errorf(bridge.CodeUnsupported, "slack: the card is too long (limit %d characters)", maxMessage)
}

// atOnce writes a card, and reports whether the message has all of its text.
func atOnce(v bridge.View, c render.Card) (Message, bool) {
	m, whole := build(v, c, maxMessage)
	size := measure(m.Blocks)
	describe(m.Blocks, maxMessage-size, func(string) string { return subject(v.Record.Interaction, c) })
	return m, whole && size <= maxMessage
}

// describedOnCard returns a function that reports whether a card with enough
// room must list the options of a question in its text. This includes options
// whose descriptions are visible only in an open menu.
func describedOnCard(i bridge.Interaction) func(bridge.Question) bool {
	needed := listedOnCard(i)
	return func(q bridge.Question) bool { return needed(q) || inMenu(q) && render.HasDescriptions(q) }
}

// listedOnCard returns a function that reports whether a card must list the
// options of a question in its text. It lists options that only a modal offers,
// so that everyone can read them, except yes and no.
func listedOnCard(i bridge.Interaction) func(bridge.Question) bool {
	f, lone := i.Lone()
	inModal := !lone || needsForm(f.Question)
	return func(q bridge.Question) bool { return inModal && q.Widget != bridge.WidgetConfirm || listed(q) }
}

// listed reports whether the text must list the options.
func listed(q bridge.Question) bool {
	if !render.LabelsFit(q, maxOption, cost) {
		return true
	}
	if q.OneTap() {
		return render.HasDescriptions(q)
	}
	return render.HasPreviews(q) || slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return cost(render.Line(o.Description)) > maxOption })
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
	m.Blocks = append(m.Blocks,
		richText("head-"+id, []render.Block{{Kind: render.Heading, Spans: c.Head}}),
	)
	if len(body) > 0 {
		m.Blocks = append(m.Blocks, richText("body-"+id, body))
	}
	if len(questions) > 0 {
		m.Blocks = append(m.Blocks, richText("questions-"+id, questions))
	}
	if c.Closed {
		closing, _ := clip(c.Closing, limit)
		if len(closing) > 0 {
			m.Blocks = append(m.Blocks, richText("closing-"+id, closing))
		}
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
		return m, whole
	}
	if v.Hides() {
		m.Refused = reviewable(v)
		m.Blocks = append(append(m.Blocks, notes(v, id)...), origin(c, id), due(c, id))
		if !v.Waiting {
			m.Blocks = append(m.Blocks, controls(v, id, true, true)...)
		}
		return m, whole
	}
	if !whole || needsDialog(v.Record.Interaction) {
		m.Refused = dialog(v, answering(v))
	}
	fits := m.Refused == nil
	if !whole || !fits {
		m.Blocks = append(m.Blocks, shortened(v, c, body, id, whole, fits)...)
	}
	m.Blocks = append(append(m.Blocks, notes(v, id)...), origin(c, id), due(c, id))
	if !v.Waiting {
		m.Blocks = append(m.Blocks, controls(v, id, whole, fits)...)
		if v.Record.Interaction.Declinable {
			m.Blocks = append(m.Blocks, slack.NewActionBlock("decline-"+id, button("decline", v.Token(bridge.ActionDecline, 0, 0), render.LabelDecline, slack.StyleDefault)))
		}
		if _, inMenu := overflow(v, fits); !inMenu {
			m.Blocks = append(m.Blocks, extras(v, id)...)
		}
	}
	return m, whole
}

// blockID returns the end of the IDs of a card's blocks. A client keeps the
// values that a person entered while the ID of a block stays the same. The IDs
// therefore change with the content, but not with a vote or a reminder.
func blockID(v bridge.View) string { return v.Record.Interaction.ID.Short() + "-" + v.Tag() }

// origin returns the line that says who asks.
func origin(c render.Card, id string) slack.Block {
	return slack.NewContextBlock("from-"+id, plain(c.From, maxSection))
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

// dateMarkup returns the markup of a time in the reader's zone.
func dateMarkup(s render.Span) string {
	return "<!date^" + strconv.FormatInt(s.Time, 10) + "^" + dateFormat + "|" + Escape(s.Text) + ">"
}

// mention returns the markup that notifies a user or a user group.
func mention(m bridge.Mention) string {
	if m.Group != "" {
		return "<!subteam^" + Escape(m.Group) + ">"
	}
	return "<@" + Escape(m.User) + ">"
}

// Reminder returns the escaped text of a reminder, with the markup of its
// mentions and a link to the card, because other cards can follow the card in
// the thread. If link is empty, the text has no link.
func Reminder(r bridge.Reminder, link string) string {
	var who []string
	for _, u := range r.Users {
		who = append(who, mention(bridge.Mention{User: u}))
	}
	for _, g := range r.Groups {
		who = append(who, mention(bridge.Mention{Group: g}))
	}
	var text strings.Builder
	for _, s := range render.Noted(r.Text) {
		if s.Time != 0 {
			text.WriteString(dateMarkup(s))
		} else {
			text.WriteString(Escape(s.Text))
		}
	}
	if len(who) > 0 && link != "" {
		text.WriteString(" · <" + Escape(link) + "|" + render.LabelOpen + ">")
	}
	return render.Remind(who, text.String())
}

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

// controls returns the controls that answer a request. On an incomplete card,
// the controls that approve or answer open dialogs that show everything. If no
// dialog can hold the request, these controls are left out.
func controls(v bridge.View, id string, whole, fits bool) []slack.Block {
	i := v.Record.Interaction
	switch {
	case v.Hides():
		return review(v, id)
	case i.Kind == bridge.KindApproval:
		return []slack.Block{slack.NewActionBlock("act-"+id, decisions(v, whole, fits)...)}
	case i.LonePlan():
		return []slack.Block{slack.NewActionBlock("act-"+id, planButtons(v, whole, fits)...)}
	case !fits:
		return nil
	case !whole:
		b := button("form", v.Token(bridge.ActionInput, 0, bridge.OptionForm), render.ReadLabel(i), slack.StylePrimary)
		return []slack.Block{slack.NewActionBlock("act-"+id, b)}
	}
	f, lone := i.Lone()
	if !lone || needsForm(f.Question) {
		label := render.LabelAnswer
		if lone && !f.FreeText() {
			label = render.LabelChoose
		}
		b := button("form", v.Token(bridge.ActionInput, 0, bridge.OptionForm), label, slack.StylePrimary)
		return []slack.Block{slack.NewActionBlock("act-"+id, b)}
	}
	if f.OneTap() {
		return tapButtons(v, f, id)
	}
	value, _ := (*bridge.Draft)(nil).Value(f)
	out := []slack.Block{slack.NewInputBlock("q0-"+id, plain(inlineLabel(f.Question), maxLabel), nil, choice(f.Question, value))}
	row := []slack.BlockElement{button("submit", v.Token(bridge.ActionSubmit, 0, bridge.OptionForm), render.SubmitLabel(f.Question), slack.StylePrimary)}
	if f.AllowOther {
		row = append(row, button("other", v.Token(bridge.ActionInput, 0, bridge.OptionOther), render.LabelOther, slack.StyleDefault))
	}
	return append(out, slack.NewActionBlock("act-"+id, row...))
}

func tapButtons(v bridge.View, q bridge.Field, id string) []slack.Block {
	var row []slack.BlockElement
	value, _ := (*bridge.Draft)(nil).Value(q)
	for n := range q.Options {
		style := slack.StyleDefault
		if value.Text == q.Options[n].Value {
			style = slack.StylePrimary
		}
		row = append(row, button("o"+strconv.Itoa(n), v.Token(bridge.ActionChoose, 0, n), render.OptionLabel(q.Question, n, maxButton, cost), style))
	}
	if q.AllowOther {
		row = append(row, button("other", v.Token(bridge.ActionInput, 0, bridge.OptionOther), render.LabelOther, slack.StyleDefault))
	}
	var out []slack.Block
	for k := range slices.Chunk(row, maxActions) {
		out = append(out, slack.NewActionBlock("act"+strconv.Itoa(len(out))+"-"+id, k...))
	}
	return out
}

// planButtons returns the controls of a plan.
func planButtons(v bridge.View, whole, fits bool) []slack.BlockElement {
	changes := button("changes", v.Token(bridge.ActionInput, 1, bridge.OptionForm), render.LabelChanges, slack.StyleDefault)
	approve := button("approve", v.Token(bridge.ActionChoose, 0, 0), render.LabelApprove, slack.StylePrimary)
	switch {
	case !fits:
		return []slack.BlockElement{changes}
	case !whole:
		c := answering(v)
		approve = button("approve", v.Token(c.Action, c.Question, c.Option), render.ReadLabel(v.Record.Interaction), slack.StylePrimary)
	}
	return []slack.BlockElement{approve, changes}
}

// decisions returns the controls of an approval: the buttons of the card, and
// the menu with the other decisions.
func decisions(v bridge.View, whole, fits bool) []slack.BlockElement {
	var row []slack.BlockElement
	i := v.Record.Interaction
	all := i.Decisions()
	for _, n := range i.OnCard() {
		d := all[n]
		if d.Approves() && !fits {
			continue
		}
		c, label := control(v, n, whole), render.CardLabel(i, d)
		if !whole && d == bridge.DecideOnce {
			label = render.ReadLabel(i)
		}
		row = append(row, button("d"+strconv.Itoa(n), v.Token(c.Action, c.Question, c.Option), label, styleOf(render.DecisionTone(i, d))))
	}
	if more, _ := overflow(v, fits); len(more) > 0 {
		row = append(row, slack.NewOverflowBlockElement("more", more...))
	}
	return row
}

// overflow returns the entries of the menu of an approval. It omits approvals
// if nothing fits the request. It reports whether the entries include the
// controls that do not answer the request: they do not if the menu is too
// small, or if people are chosen in a select.
func overflow(v bridge.View, fits bool) (out []*slack.OptionBlockObject, extras bool) {
	i := v.Record.Interaction
	for _, n := range i.More() {
		if d := i.Decisions()[n]; (d != bridge.DecideDenyAlways || !alwaysWithReason(i)) && (fits || d.Denies()) {
			out = append(out, slack.NewOptionBlockObject(v.Token(i.DecisionControl(n)), plain(render.EntryLabel(i, d), maxOption), nil))
		}
	}
	others := append(render.Snooze(v), render.Delegates(v)...)
	if !render.ExtrasInMore(v) || len(render.Delegates(v)) < len(i.HandOver) || len(out)+len(others) > maxOverflow {
		return out, false
	}
	for _, x := range others {
		out = append(out, slack.NewOptionBlockObject(x.Token, plain(x.Label, maxOption), nil))
	}
	return out, true
}

// alwaysWithReason reports whether the dialog for a reason also offers to deny
// always, because a menu cannot hold all decisions.
func alwaysWithReason(i bridge.Interaction) bool {
	all := i.Decisions()
	return slices.Contains(all, bridge.DecideDenyReason) && slices.Contains(all, bridge.DecideDenyAlways)
}

// session returns the controls of a session's message.
func session(v bridge.View) []slack.BlockElement {
	var row []slack.BlockElement
	for _, c := range render.SessionControls(v) {
		row = append(row, button(c.ID, c.Token, c.Label, slack.StyleDefault))
	}
	return row
}

func styleOf(t render.Tone) slack.Style {
	switch t {
	case render.Good:
		return slack.StylePrimary
	case render.Bad:
		return slack.StyleDanger
	}
	return slack.StyleDefault
}

func button(id, token, label string, style slack.Style) *slack.ButtonBlockElement {
	var both struct {
		button slack.ButtonBlockElement
		text   plainText
	}
	both.button = slack.ButtonBlockElement{
		Type: slack.METButton, ActionID: id, Value: token, Text: both.text.of(label, maxButton), Style: style,
	}
	return &both.button
}

// inlineLabel returns the label of an input in a message, which already shows
// the text of the question.
func inlineLabel(q bridge.Question) string {
	q.Text = ""
	return fieldLabel(q)
}

func fieldLabel(q bridge.Question) string {
	switch {
	case q.Text != "":
		return render.Line(q.Text)
	case q.Header != "":
		return render.Line(q.Header)
	case q.Multiple():
		return "Choose one or more"
	case q.FreeText():
		return render.TitleAnswer
	}
	return "Choose one"
}
