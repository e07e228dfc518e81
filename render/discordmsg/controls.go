package discordmsg

import (
	"fmt"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// listed reports whether the text must list the options.
func listed(q bridge.Question) bool {
	if !render.LabelsFit(q, maxButton, render.Runes) {
		return true
	}
	if q.OneTap() || len(q.Options) > maxSelect {
		return render.HasDescriptions(q)
	}
	return render.HasPreviews(q) || slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return render.Runes(render.Line(o.Description)) > maxOption })
}

// listsAll is listed for a card with more room. It also lists the options of a
// modal, and options with descriptions in a menu, so that people can read them
// before they open it.
func listsAll(v bridge.View) func(bridge.Question) bool {
	f, lone := v.Record.Interaction.Lone()
	onCard := lone && (f.OneTap() || f.Widget == bridge.WidgetSelect && len(f.Options) <= maxSelect)
	return func(q bridge.Question) bool { return !onCard || listed(q) || render.HasDescriptions(q) }
}

// controls returns the rows of buttons and menus of a card.
func controls(v bridge.View, c render.Card) []discordgo.MessageComponent {
	i := v.Record.Interaction
	switch {
	case render.IsSession(v):
		var row []discordgo.MessageComponent
		for _, s := range render.SessionControls(v) {
			row = append(row, button(s.Token, s.Label, discordgo.SecondaryButton))
		}
		return rows(row)
	case v.Hides() && !v.Waiting && (!c.Closed || i.Kind == bridge.KindNotice):
		r := render.ReviewControl(i)
		return rows([]discordgo.MessageComponent{button(v.Token(r.Action, r.Question, r.Option), render.LabelReview, discordgo.PrimaryButton)})
	case c.Closed || v.Waiting:
		return nil
	}
	out := answers(v)
	if i.Declinable {
		out = append(out, rows([]discordgo.MessageComponent{button(v.Token(bridge.ActionDecline, 0, 0), render.LabelDecline, discordgo.SecondaryButton)})...)
	}
	if !render.ExtrasInMore(v) {
		out = append(out, extras(v)...)
	}
	return out
}

// answers returns the controls that answer a request.
func answers(v bridge.View) []discordgo.MessageComponent {
	i := v.Record.Interaction
	if i.Kind == bridge.KindApproval {
		return rows(decisions(v))
	}
	if i.LonePlan() {
		return rows([]discordgo.MessageComponent{
			button(v.Token(bridge.ActionChoose, 0, 0), render.LabelApprove, discordgo.SuccessButton),
			button(v.Token(bridge.ActionInput, 1, bridge.OptionForm), render.LabelChanges, discordgo.SecondaryButton),
		})
	}
	f, lone := i.Lone()
	if lone {
		extra := 0
		if f.AllowOther {
			extra = 1
		}
		if i.Declinable {
			extra += maxRow // the control to decline takes a row of its own
		}
		switch {
		case f.OneTap() && len(f.Options)+extra <= maxButtons:
			return rows(taps(v, f))
		case f.Widget == bridge.WidgetSelect && len(f.Options) <= maxSelect:
			return selectRow(v, f)
		case oneOfMany(i) && len(Pages(i)) > 1:
			return rows(ranges(v, Pages(i)))
		}
	}
	label := render.LabelAnswer
	if lone && !f.FreeText() {
		label = render.LabelChoose
	}
	return rows([]discordgo.MessageComponent{button(v.Token(bridge.ActionInput, 0, bridge.OptionPage), label, discordgo.PrimaryButton)})
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
	all := i.Decisions()
	for _, n := range i.OnCard() {
		d := all[n]
		out = append(out, button(v.Token(i.DecisionControl(n)), render.CardLabel(i, d), styleOf(render.DecisionTone(i, d))))
	}
	if render.HasMore(i) {
		out = append(out, button(v.Token(bridge.ActionMore, 0, 0), render.LabelMore, discordgo.SecondaryButton))
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
			Description: optionHint(o),
		})
	}
	row := []discordgo.MessageComponent{button(v.Token(bridge.ActionSubmit, 0, bridge.OptionForm), render.SubmitLabel(q.Question), discordgo.PrimaryButton)}
	if q.AllowOther {
		row = append(row, button(v.Token(bridge.ActionInput, 0, bridge.OptionOther), render.LabelOther, discordgo.SecondaryButton))
	}
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu}}, discordgo.ActionsRow{Components: row}}
}

// optionHint returns the description of an option in an open menu.
func optionHint(o bridge.Option) string {
	return render.Cut(render.Line(o.Description), maxOption, render.Runes)
}

// ranges returns the buttons that open the parts of a list that is longer than
// one modal.
func ranges(v bridge.View, pages []Page) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	for n, p := range pages {
		first, last := p.Fields[0], p.Fields[len(p.Fields)-1]
		if first.Said && len(p.Fields) > 1 {
			first = p.Fields[1]
		}
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
