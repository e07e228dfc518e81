package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Card is the content of a message, without its controls.
type Card struct {
	// Head is the first line: the decision to make, or the outcome. It is never
	// shortened, because it may hold the complete action.
	Head []Span
	// Notice is the text of a notification: one line, never empty.
	Notice string
	// From names the agent and the origin of the request.
	From string
	// Body is the rest of the request: facts, the agent's text, and the input
	// of a tool. It must be shown in full before the card may be answered.
	Body []Block
	// Questions lists the questions if there are several, or if the controls
	// cannot hold the text of the options.
	Questions []Block
	// Closing states why and when the request was closed. It is empty while the
	// request is pending.
	Closing []Block
	// Due is the line with the deadline. It is empty once the card is closed.
	Due    []Span
	Closed bool
	asks   []Span // the agent's text on a form, without the text that nod adds
	// Whole means that the body must be delivered in full.
	Whole bool
}

// HeadText returns the headline as text.
func (c Card) HeadText() string { return headText(c.Head) }

// NewCard builds the card of a view. listOptions reports whether the labels of
// a question do not fit the controls of the platform and must be listed in the
// text.
func NewCard(v bridge.View, listOptions func(bridge.Question) bool) Card {
	if IsSession(v) {
		return sessionCard(v)
	}
	if v.Hides() {
		return privateCard(v)
	}
	r := v.Record
	i := r.Interaction
	c := Card{Closed: r.State.Final(), Closing: closing(v)}
	c.Whole = !c.Closed
	if i.Kind == bridge.KindNotice {
		c.Closed, c.Closing, c.Whole = true, nil, true // a notice has only one state
	}
	fields := i.Fields()
	question := headlineOf(i, fields)
	subject := c.fill(v, question)
	c.Notice = previewed(r, notice(r, c.Head, subject))
	if i.LonePlan() { // the headline and the buttons show the question
		c.Questions = planFeedback(r, fields)
		if !c.Closed {
			c.Questions = []Block{Para("Approving lets " + Line(i.Agent) + " start, but does not approve its commands. To refuse, request changes.")}
		}
		return c
	}
	elsewhere := func(f bridge.Field) bool { // in a dialog, or one field at a time
		return !c.Closed && !v.Waiting && len(fields) > 1 && !needsCard(f)
	}
	for n, f := range fields {
		if f.Part != "" && f.Of < len(i.Questions) && (n == 0 || fields[n-1].Of != f.Of) {
			c.Questions = append(c.Questions, PartsTitle(i.Questions[f.Of])...)
		}
		if n == 0 && slices.ContainsFunc(fields, elsewhere) {
			c.Questions = append(c.Questions, Contents(fields))
		}
		if elsewhere(f) {
			continue
		}
		if question != nil {
			f.Text, f.Header = "", ""
		}
		list := v.Waiting || listOptions(f.Question) // a waiting card has no controls
		c.Questions = append(c.Questions, fieldBlocks(r, f, n, len(fields) > 1, list)...)
	}
	return c
}

// planFeedback returns a person's feedback on a plan.
func planFeedback(r bridge.Record, fields []bridge.Field) []Block {
	if r.State != bridge.StateAnswered || r.Response.Actor == nil {
		return nil
	}
	var out []Block
	for _, f := range fields[1:] {
		if !f.FieldAnswer(r.Interaction, r.Response.Answers).Empty() {
			says := Span{Text: Line(r.Response.Actor.Display()) + " says: ", Bold: true}
			out = append(out, Block{Kind: Quote, Inner: []Block{{Kind: Paragraph, Spans: []Span{says, {Text: given(r, f)}}}}})
		}
	}
	return out
}

// fill writes the headline, the origin and the body, and returns the subject of
// a notification. Question is the only question as a headline, or nil.
func (c *Card) fill(v bridge.View, question []Block) string {
	r := v.Record
	i := r.Interaction
	var act Action
	if i.Approval != nil {
		act = ActionOf(approvedAs(r))
	}
	c.From = from(i, act, v.Session)
	if !c.Closed {
		c.Due = Due(r, v.Mentions)
	}
	if i.Approval != nil {
		c.Head = asked(r, act)
		c.Body = approvalBody(r, act)
		if c.Closed || r.Unverified != "" {
			c.Head = []Span{{Text: ending(r)}}
		}
		return Line(headText(act.Short))
	}
	prompt := Markdown(i.Prompt)
	subject := subjectOf(prompt)
	c.Head = asked(r, act)
	lead, rest := leadingLine(i, question, prompt)
	if len(lead) > 0 {
		c.Head, c.asks = lead, lead
		subject = Line(headText(lead))
	}
	if fields := i.Fields(); len(fields) > 1 && i.Kind == bridge.KindAsk && !i.LonePlan() {
		head := []Span{{Text: Line(i.Agent) + " needs details"}}
		if len(lead) > 0 {
			head = append(append(head, Span{Text: ": "}), lead...)
		}
		c.Head = append(head, Span{Text: " (" + counts(fields) + ")"})
	}
	if (c.Closed || r.Unverified != "") && i.Kind != bridge.KindNotice {
		rest = append(titleOf(lead), rest...)
		c.Head = []Span{{Text: ending(r)}}
	}
	c.Body = append(errorBlock(i, c.Closed), rest...)
	for _, q := range i.Questions {
		if q.Widget == bridge.WidgetPlanReview {
			if len(c.Body) > 0 {
				c.Body = append(c.Body, Block{Kind: Paragraph, Spans: []Span{{Text: "Plan", Bold: true}}})
			}
			if q.Text != "" {
				c.Body = append(c.Body, Para(Clean(q.Text)))
			}
			c.Body = append(c.Body, Markdown(q.Plan)...)
		}
	}
	return subject
}

// titleOf returns a headline as the first paragraph of a closed card.
func titleOf(head []Span) []Block {
	if len(head) == 0 {
		return nil
	}
	return []Block{{Kind: Paragraph, Spans: head}}
}

// maxLead is the length of a headline, in characters.
const maxLead = 120

// leadingLine returns the question or the prompt as a headline, if it is a
// single short line, and the rest of the prompt.
func leadingLine(i bridge.Interaction, question, prompt []Block) (head []Span, rest []Block) {
	switch {
	case i.Kind == bridge.KindNotice || i.LonePlan():
		return nil, prompt
	case question != nil:
		if PlainText(prompt) == PlainText(question) {
			prompt = nil
		}
		return question[0].Spans, prompt
	case len(prompt) > 0 && isLine(prompt[0]):
		return prompt[0].Spans, prompt[1:]
	}
	return nil, prompt
}

// headlineOf returns the only question of a request as a document if it is a
// single short line, which can be the headline. Otherwise it returns nil.
func headlineOf(i bridge.Interaction, fields []bridge.Field) []Block {
	if len(fields) != 1 || i.LonePlan() || fields[0].Text == "" || fields[0].Part != "" {
		return nil
	}
	if text := Markdown(fields[0].Text); len(text) == 1 && isLine(text[0]) {
		return text
	}
	return nil
}

func isLine(b Block) bool {
	if b.Kind != Paragraph && b.Kind != Heading {
		return false
	}
	length, blank := 0, true
	for _, s := range b.Spans {
		if strings.Contains(s.Text, "\n") {
			return false
		}
		length += Runes(s.Text)
		blank = blank && strings.TrimSpace(s.Text) == ""
	}
	return length <= maxLead && !blank
}

func errorBlock(i bridge.Interaction, closed bool) []Block {
	if i.Error == "" || closed {
		return nil
	}
	return []Block{{Kind: Paragraph, Spans: []Span{{Text: "⚠️ "}, {Text: "Asked again: ", Bold: true}, {Text: Clean(i.Error)}}}}
}

// approvedAs returns the interaction of a record with the input that a person
// approved, if the person edited it.
func approvedAs(r bridge.Record) bridge.Interaction {
	i := r.Interaction
	if r.State == bridge.StateApproved && r.Response != nil && len(r.Response.Input) > 0 && !i.CompletedView.Hidden() {
		changed := *i.Approval
		changed.Input = r.Response.Input
		i.Approval = &changed
	}
	return i
}

// approvalBody returns the content of an approval below its headline. The facts
// come before the agent's own words. A closed card repeats the action, struck
// through if it was refused.
func approvalBody(r bridge.Record, act Action) []Block {
	i := r.Interaction
	closed := r.State.Final()
	out := make([]Block, 0, 3+len(act.Rest)) // for the usual number of blocks
	if closed {
		action := slices.Clone(act.Short)
		for n := range action {
			action[n].Strike = refused(r)
		}
		out = append(out, Block{Kind: Paragraph, Spans: action})
	} else {
		out = append(append(out, errorBlock(i, closed)...), facts(i, act)...)
	}
	if said := says(i, act); len(said) > 0 {
		out = append(out, Block{Kind: Quote, Inner: quoted(i, said)})
	}
	out = append(out, act.Rest...)
	if !closed { // a longer approval states its coverage before a person can give it
		out = append(out, scopeNote(i, bridge.ScopeOnce)...)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// quoted marks a text as the agent's words.
func quoted(i bridge.Interaction, said []Block) []Block {
	first := Block{Kind: Paragraph}
	if said[0].Kind == Paragraph {
		first, said = said[0], said[1:]
	}
	spans := append(make([]Span, 0, 1+len(first.Spans)), Span{Text: Line(i.Agent) + " says: ", Bold: true})
	first.Spans = append(spans, first.Spans...)
	return append(append(make([]Block, 0, 1+len(said)), first), said...)
}

// PartsTitle returns the title and the description of a question that has
// several fields.
func PartsTitle(q bridge.Question) []Block {
	title, description := q.Heading()
	if q.Widget == bridge.WidgetPlanReview {
		return nil
	}
	var out []Block
	if title != "" {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: Clean(title), Bold: true}}})
	}
	if description != "" {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: Clean(description), Italic: true}}})
	}
	return out
}

// subjectOf returns the first words of a document on one line.
func subjectOf(doc []Block) string {
	for n := range doc {
		s := Line(PlainText(doc[n : n+1]))
		if s != "" {
			return Cut(s, 150, Runes)
		}
	}
	return "(no text)"
}

func fieldBlocks(r bridge.Record, f bridge.Field, n int, several, listOptions bool) []Block {
	title := []Span{}
	if several {
		title = append(title, Span{Text: strconv.Itoa(n+1) + ". ", Bold: true})
	}
	if several && f.Header != "" {
		title = append(title, Span{Text: "[" + Line(f.Header) + "] ", Bold: true})
	}
	text := FieldText(f)
	if len(text) > 0 && text[0].Kind == Paragraph {
		title, text = append(title, text[0].Spans...), text[1:]
	}
	var out []Block
	if len(title) > 0 {
		out = append(out, Block{Kind: Paragraph, Spans: title})
	}
	out = append(out, text...)
	if r.State.Final() {
		if r.State == bridge.StateAnswered && !headlined(r) {
			out = append(out, Block{Kind: Quote, Inner: []Block{Para(given(r, f))}})
		}
		return append(out, unchosen(r, f)...)
	}
	if f.Description != "" {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: Clean(f.Description), Italic: true}}})
	}
	if listOptions && len(f.Options) > 0 {
		out = append(out, OptionList(f.Question))
	}
	return out
}

// given returns an answer in the form of the closed card.
func given(r bridge.Record, f bridge.Field) string {
	a := f.FieldAnswer(r.Interaction, r.Response.Answers)
	switch {
	case r.Interaction.CompletedView.Hidden():
		return "(not shown)"
	case a.Empty():
		return "(no answer)"
	}
	return Clean(f.Labels(a))
}

// maxUnchosen is the maximum length of the options that a closed card names, in
// characters.
const maxUnchosen = 600

// unchosen names the options of a closed question that were not chosen, because
// its controls no longer show them. Yes and no need no list.
func unchosen(r bridge.Record, f bridge.Field) []Block {
	if f.Part != "" || f.Widget == bridge.WidgetConfirm || r.Interaction.Kind == bridge.KindNotice || r.Interaction.CompletedView.Hidden() {
		return nil
	}
	label, chosen := "Options: ", []string(nil)
	if r.State == bridge.StateAnswered {
		label, chosen = "Not chosen: ", f.FieldAnswer(r.Interaction, r.Response.Answers).Values()
	}
	var left []string
	for _, o := range f.Options {
		if !slices.Contains(chosen, o.Value) {
			left = append(left, Line(o.Text()))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return []Block{{Kind: Paragraph, Spans: []Span{{Text: Cut(label+strings.Join(left, " · "), maxUnchosen, Runes), Italic: true}}}}
}

// OptionList lists the options of a question with their descriptions. The
// numbers are those that [OptionLabel] shows on controls.
func OptionList(q bridge.Question) Block {
	b := Block{Kind: List, Start: 1}
	for _, o := range q.Options {
		s := []Span{{Text: Line(o.Text()), Bold: true}}
		if o.Description != "" {
			s = append(s, Span{Text: ": " + Line(o.Description)})
		}
		item := []Block{{Kind: Paragraph, Spans: s}}
		if o.Preview != "" {
			item = append(item, Block{Kind: Code, Text: Clean(o.Preview)})
		}
		b.Items = append(b.Items, item)
	}
	return b
}

// OptionLabel returns the text on the control of option n: the label if it
// fits, otherwise its number in the list and its start.
func OptionLabel(q bridge.Question, n, limit int, unit Unit) string {
	s := Line(q.Options[n].Text())
	if unit(s) <= limit {
		return s
	}
	return Cut(strconv.Itoa(n+1)+". "+s, limit, unit)
}

// LabelsFit reports whether every label fits on a control of limit units.
func LabelsFit(q bridge.Question, limit int, unit Unit) bool {
	for _, o := range q.Options {
		if unit(Line(o.Text())) > limit {
			return false
		}
	}
	return true
}

// HasDescriptions reports whether any option has a description.
func HasDescriptions(q bridge.Question) bool {
	return HasPreviews(q) || slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return o.Description != "" })
}

// HasPreviews reports whether any option has a preview.
func HasPreviews(q bridge.Question) bool {
	return slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return o.Preview != "" })
}
