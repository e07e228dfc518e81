package slackmsg

import (
	"slices"
	"strconv"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

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

// decline returns the control that closes a question without an answer.
func decline(v bridge.View, id string) slack.Block {
	b := button("decline", v.Token(bridge.ActionDecline, 0, 0), render.LabelDecline, slack.StyleDefault)
	return slack.NewActionBlock("decline-"+id, b)
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
// if no dialog can hold the request. It reports whether the entries include the
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
