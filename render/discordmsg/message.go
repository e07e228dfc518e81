package discordmsg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Message is a card as Discord shows it.
type Message struct {
	Content    string
	Embeds     []*discordgo.MessageEmbed
	Components []discordgo.MessageComponent
	// File is the full text where the card can not hold it; nil: it does.
	File *File
}

// File is an attachment.
type File struct {
	Name string
	Data []byte
}

// Colours of a card's edge.
const (
	colourPending = 0xF0B232
	colourYes     = 0x248046
	colourNo      = 0xDA373C
	colourOther   = 0x80848E
)

// Build writes a view as a message. Its error is CodeUnsupported.
func Build(v bridge.View) (Message, error) {
	c := render.NewCard(v, listed)
	var items []render.Item
	if len(v.Batch) > 0 {
		c, items = render.NewBatch(v, true)
	}
	d := v.Record.Interaction.Deadline
	body, whole := description(c, maxDescription-500) // room for what is added below
	m := Message{Content: render.Cut(Escape(c.Notice), maxContent, render.Runes)}
	e := &discordgo.MessageEmbed{Title: render.Cut(c.Icon+" "+Escape(c.Headline), maxTitle, render.Runes), Color: colour(v.Record.State, c.Closed)}
	footer := c.From
	if c.Digest != "" {
		footer += " · " + c.Digest
	}
	e.Footer = &discordgo.MessageEmbedFooter{Text: render.Cut(footer, 300, render.Runes)}
	if !whole && c.Whole {
		text := []byte(c.FullText())
		if len(text) > maxFile {
			return m, bridge.Errorf(bridge.CodeUnsupported, "discord: the text has %d bytes, more than %d", len(text), maxFile)
		}
		m.File = &File{Name: "request-" + v.Record.Interaction.ID.Short() + ".txt", Data: text}
		body += "\n\n✂️ Shortened here: the full text is attached."
	}
	if !c.Closed {
		for _, note := range render.Notes(v) {
			body += "\n\n" + Escape(note)
		}
		body += fmt.Sprintf("\n\n⏳ Open until <t:%d:t> (<t:%d:R>)", d.Unix(), d.Unix())
		var err error
		if m.Components, err = controls(v); err != nil {
			return m, err
		}
		if len(items) > 0 {
			m.Components = batch(v, items)
		}
		if v.Record.Interaction.Declinable {
			m.Components = append(m.Components, rows([]discordgo.MessageComponent{button(v.Token(bridge.ActionDecline, 0, 0), render.LabelDecline, discordgo.SecondaryButton)})...)
		}
		var more []discordgo.MessageComponent
		for _, x := range render.Extras(v) {
			more = append(more, button(x.Token, x.Label, discordgo.SecondaryButton))
		}
		if len(more) > 0 && len(items) == 0 && len(m.Components) < maxActionRows {
			m.Components = append(m.Components, rows(more)...)
		}
		if v.ReadOnly {
			m.Components = nil
		}
	}
	e.Description = body
	m.Embeds = []*discordgo.MessageEmbed{e}
	return m, nil
}

func colour(s bridge.State, closed bool) int {
	if !closed {
		return colourPending
	}
	switch s {
	case bridge.StateApproved, bridge.StateAnswered:
		return colourYes
	case bridge.StateDenied:
		return colourNo
	}
	return colourOther
}

// description writes what the card says within limit, and reports whether
// that is all of it.
func description(c render.Card, limit int) (string, bool) {
	full := join(Markdown(c.Body), Markdown(c.Questions), Markdown(c.Closing))
	if render.Runes(full) <= limit {
		return full, true
	}
	// What an agent or a person wrote is cut; who decided stays readable.
	closing := clip(c.Closing, 900)
	rest := limit - render.Runes(closing) - 10
	questions := clip(c.Questions, rest/2)
	body := clip(c.Body, rest-render.Runes(questions))
	return join(body, questions, closing), false
}

// clip writes a document within limit, as a code block if it has to be cut.
func clip(doc []render.Block, limit int) string {
	s := Markdown(doc)
	if render.Runes(s) <= limit {
		return s
	}
	text := strings.ReplaceAll(render.PlainText(doc), "```", "'''")
	return codeBlock(render.Cut(text, limit-12, render.Runes), "")
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// listed tells whether the options have to be listed in the text.
func listed(q bridge.Question) bool {
	if !render.LabelsFit(q, maxButton, render.Runes) {
		return true
	}
	if q.OneTap() || len(q.Options) > maxSelect {
		return render.HasDescriptions(q)
	}
	return render.HasPreviews(q) || slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return render.Runes(render.Line(o.Description)) > maxOption })
}

func controls(v bridge.View) ([]discordgo.MessageComponent, error) {
	i := v.Record.Interaction
	if i.Kind == bridge.KindApproval {
		return rows(decisions(v)), nil
	}
	pages, err := Pages(i)
	if err != nil {
		return nil, err
	}
	if i.LonePlan() {
		return rows([]discordgo.MessageComponent{
			button(v.Token(bridge.ActionChoose, 0, 0), render.LabelApprove, discordgo.SuccessButton),
			button(v.Token(bridge.ActionInput, 1, bridge.OptionForm), render.LabelChanges, discordgo.DangerButton),
		}), nil
	}
	f, lone := i.Lone()
	if lone {
		extra := 0
		if f.AllowOther {
			extra = 1
		}
		if i.Declinable {
			extra += maxRow // a row of its own
		}
		switch {
		case f.OneTap() && len(f.Options)+extra <= maxButtons:
			return rows(taps(v, f)), nil
		case f.Widget == bridge.WidgetSelect && len(f.Options) <= maxSelect:
			return selectRow(v, f), nil
		case !f.FreeText() && len(pages) > 1:
			return rows(ranges(v, pages)), nil
		}
	}
	label := render.LabelAnswer
	if lone && !f.FreeText() {
		label = render.LabelChoose
	}
	return rows([]discordgo.MessageComponent{button(v.Token(bridge.ActionInput, 0, bridge.OptionPage), label, discordgo.PrimaryButton)}), nil
}

func rows(buttons []discordgo.MessageComponent) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	for row := range slices.Chunk(buttons, maxRow) {
		out = append(out, discordgo.ActionsRow{Components: row})
	}
	return out
}

func button(token, label string, style discordgo.ButtonStyle) discordgo.MessageComponent {
	return discordgo.Button{CustomID: token, Label: render.Cut(label, maxButton, render.Runes), Style: style}
}

func decisions(v bridge.View) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	i := v.Record.Interaction
	for n, d := range i.Decisions() {
		out = append(out, button(v.Token(i.DecisionControl(n)), render.DecisionLabel(i, d), styleOf(render.DecisionTone(i, d))))
	}
	return out
}

func styleOf(t render.Tone) discordgo.ButtonStyle {
	switch t {
	case render.Good:
		return discordgo.SuccessButton
	case render.Bad:
		return discordgo.DangerButton
	}
	return discordgo.SecondaryButton
}

// batch are the controls of several approvals: a row for each and one for all,
// or, where there are more than rows, two buttons of each.
func batch(v bridge.View, items []render.Item) []discordgo.MessageComponent {
	var all []discordgo.MessageComponent
	for _, a := range render.ForAll(items) {
		all = append(all, button(v.Token(bridge.ActionAll, 0, a.Option), a.Label, styleOf(a.Tone)))
	}
	var each [][]discordgo.MessageComponent
	for _, it := range items {
		i := it.View.Record.Interaction
		var row []discordgo.MessageComponent
		for _, n := range it.Decisions {
			row = append(row, button(it.View.Token(i.DecisionControl(n)), it.Label(n), styleOf(render.DecisionTone(i, i.Decisions()[n]))))
		}
		if len(row) > 0 {
			each = append(each, row)
		}
	}
	var out []discordgo.MessageComponent
	if len(each) < maxButtons/maxRow {
		for _, row := range each {
			out = append(out, rows(row)...)
		}
		return append(out, rows(all)...)
	}
	for _, row := range each {
		out = append(out, row[:min(2, len(row))]...)
	}
	return rows(append(out, all...))
}

func taps(v bridge.View, q bridge.Field) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	value, _ := (*bridge.Draft)(nil).Value(q)
	for n := range q.Options {
		style := discordgo.SecondaryButton
		if value.Text == q.Options[n].Value {
			style = discordgo.PrimaryButton
		}
		out = append(out, button(v.Token(bridge.ActionChoose, 0, n), render.OptionLabel(q.Question, n, maxButton, render.Runes), style))
	}
	if q.AllowOther {
		out = append(out, button(v.Token(bridge.ActionInput, 0, bridge.OptionOther), render.LabelOther, discordgo.SecondaryButton))
	}
	return out
}

func selectRow(v bridge.View, q bridge.Field) []discordgo.MessageComponent {
	value, _ := v.Draft.Value(q)
	menu := discordgo.SelectMenu{
		MenuType: discordgo.StringSelectMenu, CustomID: v.Token(bridge.ActionPick, 0, 0), Placeholder: render.LabelChoose,
	}
	for n, o := range q.Options {
		menu.Options = append(menu.Options, discordgo.SelectMenuOption{
			Label: render.OptionLabel(q.Question, n, maxOption, render.Runes), Value: fmt.Sprint(n), Default: slices.Contains(value.Values(), o.Value),
			Description: optionHint(q.Question, o),
		})
	}
	row := []discordgo.MessageComponent{button(v.Token(bridge.ActionSubmit, 0, bridge.OptionForm), render.LabelOK, discordgo.PrimaryButton)}
	if q.AllowOther {
		row = append(row, button(v.Token(bridge.ActionInput, 0, bridge.OptionOther), render.LabelOther, discordgo.SecondaryButton))
	}
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu}}, discordgo.ActionsRow{Components: row}}
}

// optionHint is the description shown on the control; empty where the text
// lists the options.
func optionHint(q bridge.Question, o bridge.Option) string {
	if listed(q) {
		return ""
	}
	return render.Line(o.Description)
}

// ranges opens the parts of a list that is longer than one modal.
func ranges(v bridge.View, pages []Page) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	for n, p := range pages {
		first, last := p.Fields[0], p.Fields[len(p.Fields)-1]
		if last.Other && len(p.Fields) > 1 {
			last = p.Fields[len(p.Fields)-2]
		}
		label := fmt.Sprintf("Choose %d–%d…", first.From+1, last.To)
		if first.Other {
			label = render.LabelOther
		}
		out = append(out, button(v.Token(bridge.ActionInput, 0, bridge.OptionPage+n), label, discordgo.PrimaryButton))
	}
	return out
}

// Progress is the private message between two pages of a form, after one that
// has to be corrected, or, behind the last, the review.
func Progress(v bridge.View, note string, page int) Message {
	i := v.Record.Interaction
	pages, err := Pages(i)
	if err != nil {
		return Message{Content: Escape(note)}
	}
	var row []discordgo.MessageComponent
	if page > 0 && page <= len(pages) {
		row = append(row, button(v.Token(bridge.ActionInput, 0, bridge.OptionPage+page-1), render.LabelBack, discordgo.SecondaryButton))
	}
	m := Message{Content: render.Cut(Escape(note), maxContent, render.Runes)}
	switch {
	case i.LonePlan():
		row = append(row, button(v.Token(bridge.ActionInput, 1, bridge.OptionForm), render.LabelChanges, discordgo.PrimaryButton))
	case page < len(pages):
		label := fmt.Sprintf("Continue (%d of %d)…", page+1, len(pages))
		row = append(row, button(v.Token(bridge.ActionInput, 0, bridge.OptionPage+page), label, discordgo.PrimaryButton))
	default:
		m.Embeds = []*discordgo.MessageEmbed{{Description: render.Cut(Markdown(render.Review(v)), maxDescription, render.Runes), Color: colourPending}}
		row = append(row, button(v.Token(bridge.ActionSubmit, 0, bridge.OptionForm), render.LabelSubmit, discordgo.SuccessButton))
	}
	m.Components = rows(row)
	return m
}
