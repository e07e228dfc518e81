package telegrammsg

import (
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Message is a card in Telegram's format.
type Message struct {
	Text     string
	Entities []Entity
	Keyboard [][]Button // may be empty
	// File holds the full text if the card cannot. It must be sent before the
	// card. It is nil if the card shows everything.
	File *File
}

// File is a document.
type File struct {
	Name string
	Data []byte
}

// Build writes a view as a message. It returns CodeUnsupported if the view does
// not fit.
func Build(v bridge.View) (Message, error) {
	c := render.NewCard(v, func(q bridge.Question) bool { return listed(q) })
	if !c.Closed && wizard(v) && !v.Hides() {
		c.Questions = wizardText(v)
	}
	m := Message{}
	switch {
	case v.Hides():
		m.Keyboard = review(v, c)
	case !c.Closed && !v.Waiting:
		m.Keyboard = keyboard(v)
		m.Keyboard = append(m.Keyboard, others(v)...)
	}
	for _, s := range render.SessionControls(v) {
		m.Keyboard = append(m.Keyboard, []Button{{Text: s.Label, Data: s.Token}})
	}
	for _, limit := range []int{1 << 30, 2500, 1200, 500} {
		var whole bool
		m.Text, m.Entities, whole = write(v, c, limit)
		if render.Runes(m.Text) > maxText {
			continue
		}
		if !whole && c.Whole {
			full := c
			if wizard(v) {
				full = render.NewCard(v.Unfinished(), listed) // every field and option, not only the step of the wizard
			}
			text := []byte(full.FullText())
			if len(text) > maxFile {
				return m, bridge.Errorf(bridge.CodeUnsupported, "telegram: the text has %d bytes, more than %d", len(text), maxFile)
			}
			m.File = &File{Name: fileName(v), Data: text}
		}
		return m, nil
	}
	return m, bridge.Errorf(bridge.CodeUnsupported, "telegram: the card does not fit %d characters", maxText)
}

// review returns the keyboard of a private request.
func review(v bridge.View, c render.Card) [][]Button {
	i := v.Record.Interaction
	if v.Waiting || c.Closed && i.Kind != bridge.KindNotice {
		return nil
	}
	r := render.ReviewControl(i)
	return [][]Button{{{Text: render.LabelReview, Data: v.Token(r.Action, r.Question, r.Option), Style: "primary"}}}
}

// others returns the controls below those that answer the request.
func others(v bridge.View) [][]Button {
	i := v.Record.Interaction
	var rows [][]Button
	if i.Declinable {
		rows = append(rows, []Button{{Text: render.LabelDecline, Data: v.Token(bridge.ActionDecline, 0, 0)}})
	}
	if command, whole := render.Command(i); whole && render.Runes(command) <= maxCopied {
		rows = append(rows, []Button{copying(render.LabelCopy, command)})
	}
	if render.ExtrasInMore(v) {
		return rows
	}
	for _, x := range render.Extras(v) {
		rows = append(rows, []Button{{Text: x.Label, Data: x.Token}})
	}
	return rows
}

// Preview returns the text of a notification that shows only a part of the
// request, with the mentions of the card. Telegram notifies with the text that
// a message has when it is sent.
func Preview(v bridge.View) Message {
	c := render.NewCard(v, listed)
	w := &writer{}
	w.add(c.Notice)
	for _, m := range v.Mentions {
		w.add(" ")
		w.mention(m)
	}
	return w.message()
}

func write(v bridge.View, c render.Card, limit int) (string, []Entity, bool) {
	w := &writer{entities: make([]Entity, 0, usualEntities)}
	w.text.Grow(usualText)
	w.spans(c.Head, true)
	w.add("\n")
	whole := w.body(v, c, limit)
	questions, all := clip(c.Questions, limit)
	if len(questions) > 0 {
		w.add("\n")
		w.blocks(questions, "")
	}
	if c.Closed {
		if closing, _ := clip(c.Closing, limit); len(closing) > 0 {
			w.add("\n")
			w.blocks(closing, "")
		}
	}
	if c.Whole && (!whole || !all) && !v.Waiting {
		w.add("\n" + render.Shortened(w.extent) + " The file ")
		w.add(fileName(v), "code")
		w.add(" has the full text.\n")
	}
	if c.Closed {
		w.origin(c)
		text, entities := w.result()
		return text, entities, whole || !c.Whole
	}
	for _, note := range render.Notes(v) {
		w.add("\n" + note + "\n")
	}
	switch d := v.Draft; {
	case v.Hides() || v.Waiting:
	case d != nil:
		w.add("\n👤 " + render.Line(d.Actor.Display()) + " is filling this in. Anyone else who clicks sees their own answers. The first to submit decides.\n")
	case wizard(v):
		w.add("\nYou submit after the last field.\n")
	}
	if line := hint(v); line != nil && !v.Record.Interaction.Private {
		w.add("\n")
		w.spans(line, false)
		w.add("\n")
	}
	w.origin(c)
	w.spans(c.Due, false)
	text, entities := w.result()
	return text, entities, whole && all
}

// origin writes the line that says who asks.
func (w *writer) origin(c render.Card) {
	w.add("\nFrom", "bold")
	w.add("  " + render.Cut(c.From, render.MaxFrom, render.Runes) + "\n")
}

// fileName names the file by its content, so that people cannot mistake it for
// the file of another round.
func fileName(v bridge.View) string {
	return "request-" + v.Record.Interaction.ID.Short() + "-" + v.Tag() + ".txt"
}

func clip(doc []render.Block, limit int) ([]render.Block, bool) {
	text := render.PlainText(doc)
	if render.Runes(text) <= limit {
		return doc, true
	}
	size := func(doc []render.Block) int { return render.Runes(render.PlainText(doc)) }
	return render.Excerpt(doc, limit, size, render.Runes), false
}

// listed reports whether the text must list the options.
func listed(q bridge.Question) bool {
	return render.HasDescriptions(q) || !render.LabelsFit(q, maxButton-2, render.Runes)
}

func keyboard(v bridge.View) [][]Button {
	i := v.Record.Interaction
	if i.Kind == bridge.KindApproval {
		return decisions(v)
	}
	if i.LonePlan() {
		return [][]Button{
			{{Text: render.LabelApprove, Data: v.Token(bridge.ActionChoose, 0, 0), Style: "success"}},
			{{Text: typing + render.LabelChanges, Data: v.Token(bridge.ActionInput, 1, bridge.OptionForm)}},
		}
	}
	q, lone := i.Lone()
	if !lone {
		return wizardKeys(v)
	}
	if q.FreeText() {
		return [][]Button{{{Text: typing + render.LabelAnswer, Data: v.Token(bridge.ActionInput, 0, bridge.OptionForm), Style: "primary"}}}
	}
	rows := optionKeys(v, q, 0)
	var last []Button
	if q.AllowOther {
		last = append(last, Button{Text: typing + render.LabelOther, Data: v.Token(bridge.ActionInput, 0, bridge.OptionOther)})
	}
	if !q.OneTap() {
		last = append(last, Button{Text: render.SubmitLabel(q.Question), Data: v.Token(bridge.ActionSubmit, 0, bridge.OptionShown), Style: "primary"})
	}
	if len(last) > 0 {
		rows = append(rows, last)
	}
	return rows
}

// wizard reports whether the fields are shown one at a time.
func wizard(v bridge.View) bool {
	i := v.Record.Interaction
	return len(i.Fields()) > 1 && !i.LonePlan()
}

// decisions returns the controls of an approval: the decisions on the card in
// one row, and the control for the others below.
func decisions(v bridge.View) [][]Button {
	i := v.Record.Interaction
	all, shown := i.Decisions(), i.OnCard()
	row := make([]Button, 0, len(shown))
	for _, n := range shown {
		d := all[n]
		row = append(row, Button{Text: render.CardLabel(i, d), Data: v.Token(i.DecisionControl(n)), Style: styleOf(render.DecisionTone(i, d))})
	}
	if !render.HasMore(i) {
		return [][]Button{row}
	}
	return [][]Button{row, {{Text: render.LabelMore, Data: v.Token(bridge.ActionMore, 0, 0)}}}
}

func styleOf(t render.Tone) string {
	switch t {
	case render.Good:
		return "success"
	case render.Bad:
		return "danger"
	}
	return ""
}

// optionKeys returns the options of a question: one in each row, or several if
// they are short. It shows a long list page by page.
func optionKeys(v bridge.View, q bridge.Field, n int) [][]Button {
	value, _ := v.Draft.Value(q)
	page := 0
	if v.Draft != nil && v.Draft.Step == n {
		page = v.Draft.Page
	}
	pages := (len(q.Options) + perPage - 1) / perPage
	page = min(page, pages-1)
	var buttons []Button
	longest := 0
	for k := page * perPage; k < min((page+1)*perPage, len(q.Options)); k++ {
		label := render.OptionLabel(q.Question, k, maxButton-2, render.Runes)
		longest = max(longest, render.Runes(label))
		action := bridge.ActionChoose
		chosen := slices.Contains(value.Values(), q.Options[k].Value)
		switch {
		case q.Multiple():
			action = bridge.ActionToggle
			label = mark(chosen, "☑ ", "☐ ") + label
		case !q.OneTap() || v.Draft != nil && wizard(v):
			label = mark(chosen, "◉ ", "○ ") + label
		}
		buttons = append(buttons, Button{Text: label, Data: v.Token(action, n, k)})
	}
	perRow := 1
	switch {
	case pages > 1 && longest <= maxInTwo:
		perRow = 2
	case longest <= maxInThree && q.OneTap():
		perRow = 3
	}
	var rows [][]Button
	for row := range slices.Chunk(buttons, perRow) {
		rows = append(rows, row)
	}
	if pages > 1 {
		rows = append(rows, pager(v, n, page, pages))
	}
	return rows
}

func mark(on bool, yes, no string) string {
	if on {
		return yes
	}
	return no
}

func step(v bridge.View) int {
	if v.Draft == nil {
		return 0
	}
	return min(v.Draft.Step, len(v.Record.Interaction.Fields()))
}

// wizardText returns the current part of the wizard: one field, or the review
// of all fields.
func wizardText(v bridge.View) []render.Block {
	fields := v.Record.Interaction.Fields()
	at := step(v)
	if at == len(fields) {
		return render.Review(v)
	}
	f := fields[at]
	var doc []render.Block
	if f.Part != "" && (at == 0 || fields[at-1].Of != f.Of) {
		doc = render.PartsTitle(v.Record.Interaction.Questions[f.Of])
	}
	if v.Draft == nil {
		doc = append(doc, render.Contents(fields))
	}
	doc = append(doc, render.SoFar(v.Draft, fields, at)...)
	doc = append(doc, progress(f, at, len(fields)), render.Step(f))
	if render.Formatted(f) {
		doc = append(doc, render.FieldText(f)...)
	}
	if f.Description != "" {
		doc = append(doc, render.Block{Kind: render.Paragraph, Spans: []render.Span{{Text: render.Clean(f.Description), Italic: true}}})
	}
	if listed(f.Question) && len(f.Options) > 0 {
		doc = append(doc, render.OptionList(f.Question))
	}
	if f.FreeText() {
		if s := render.Drafted(v.Draft, f); s != render.NothingYet {
			doc = append(doc, render.Block{Kind: render.Quote, Inner: []render.Block{render.Para(s)}})
		}
	}
	return doc
}

// progress names the field of a step. The question follows separately if it has
// formatting.
func progress(f bridge.Field, n, of int) render.Block {
	if render.Formatted(f) {
		f.Text, f.Markdown = "", false
	}
	return render.Block{Kind: render.Paragraph, Spans: []render.Span{{Text: strconv.Itoa(n+1) + "/" + strconv.Itoa(of) + "  ", Bold: true}, {Text: render.FieldName(f), Bold: true}}}
}

func wizardKeys(v bridge.View) [][]Button {
	fields := v.Record.Interaction.Fields()
	at := step(v)
	back := Button{Text: "◀ " + render.LabelBack, Data: v.Token(bridge.ActionStep, max(0, at-1), 0)}
	if at == len(fields) {
		return [][]Button{{back, {Text: "✅ " + render.LabelSubmit, Data: v.Token(bridge.ActionSubmit, 0, bridge.OptionShown), Style: "success"}}}
	}
	q := fields[at]
	var rows [][]Button
	if q.FreeText() {
		rows = [][]Button{{{Text: typing + render.LabelAnswer, Data: v.Token(bridge.ActionInput, at, bridge.OptionForm), Style: "primary"}}}
	} else {
		rows = optionKeys(v, q, at)
		if q.AllowOther {
			rows = append(rows, []Button{{Text: typing + render.LabelOther, Data: v.Token(bridge.ActionInput, at, bridge.OptionOther)}})
		}
	}
	var nav []Button
	if at > 0 {
		nav = append(nav, back)
	}
	next := render.LabelNext // keeps the current answer
	if value, other := v.Draft.Value(q); value.Empty() && other == "" {
		next = render.LabelSkip
	}
	if next == render.LabelNext || !q.IsRequired() {
		nav = append(nav, Button{Text: next + " ▶", Data: v.Token(bridge.ActionStep, at+1, 0)})
	}
	if len(nav) > 0 {
		rows = append(rows, nav)
	}
	return rows
}
