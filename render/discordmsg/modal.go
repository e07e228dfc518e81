package discordmsg

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Component types that the SDK lacks.
const (
	typeSelect        = 3
	typeTextInput     = 4
	typeText          = 10
	typeLabel         = 18
	typeRadioGroup    = 21
	typeCheckboxGroup = 22
)

// Modal is the data of a modal response.
type Modal struct {
	Title      string `json:"title"`
	CustomID   string `json:"custom_id"`
	Components []any  `json:"components"` // of type Text or Label
}

// Text is a text above the inputs of a modal.
type Text struct {
	Type    int    `json:"type"`
	Content string `json:"content"`
}

// Label holds one input of a modal.
type Label struct {
	Type        int       `json:"type"`
	Label       string    `json:"label"`
	Description string    `json:"description,omitempty"`
	Component   Component `json:"component"`
}

// Component is an input of a modal.
type Component struct {
	Type        int      `json:"type"`
	CustomID    string   `json:"custom_id"`
	Required    *bool    `json:"required,omitempty"`
	Options     []Option `json:"options,omitempty"`
	MinValues   *int     `json:"min_values,omitempty"`
	MaxValues   int      `json:"max_values,omitempty"`
	Style       int      `json:"style,omitempty"`
	Value       string   `json:"value,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	MinLength   int      `json:"min_length,omitempty"`
	MaxLength   int      `json:"max_length,omitempty"`
}

// Option is a choice of an input.
type Option struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

// TypedField is the custom ID of the input for the text of a decision.
const TypedField = "reason"

// BuildModal writes the form of a control as a modal. The submission returns
// id.
func BuildModal(f bridge.Form, id string) (Modal, error) {
	i := f.View.Record.Interaction
	m := Modal{CustomID: id}
	var whole bool
	m.Title, whole = render.FormTitle(f.View, maxModalTitle, render.Runes)
	switch f.Control.Option {
	case bridge.OptionReason, bridge.OptionEdit, bridge.OptionConfirm, bridge.OptionDecide, bridge.OptionMessage:
		t := render.Typed(f)
		in := Component{Type: typeTextInput, CustomID: TypedField, Style: 1, MaxLength: t.MaxLength, Value: t.Initial}
		if t.Optional {
			in.Required = new(bool)
			t.Label += " (optional)"
		}
		if t.Lines {
			in.Style = 2
		}
		m.Title = t.Title
		about := Markdown(t.Text)
		if f.Control.Option == bridge.OptionConfirm || f.Control.Option == bridge.OptionDecide {
			about = join(context(f.View), about)
		}
		if about != "" {
			m.Components = append(m.Components, Text{typeText, about})
		}
		m.Components = append(m.Components, label(t.Label, strings.TrimLeft(t.Hint+" "+submits(t.Submit), " "), in))
		return m, nil
	case bridge.OptionOther:
		n := f.Control.Question
		m.says(f.View, whole)
		m.Components = append(m.Components, label(name(render.Fields(i)[n].Question), "", Component{Type: typeTextInput, CustomID: "x" + strconv.Itoa(n), Style: 2, MaxLength: bridge.DefaultMaxLength}))
		return m, nil
	}
	pages := Pages(i)
	page := PageOf(f.Control.Option)
	if page >= len(pages) {
		return m, bridge.Errorf(bridge.CodeInvalid, "discord: there is no page %d", page)
	}
	if i.LonePlan() {
		m.Title = render.TitleChanges
	} else {
		m.says(f.View, whole || len(pages[page].Fields) == maxModalFields)
	}
	paged := Collects(i)
	if paged {
		nth := fmt.Sprintf(" (%d of %d)", page+1, len(pages))
		m.Title = render.Cut(m.Title, maxModalTitle-render.Runes(nth), render.Runes) + nth
	}
	all := render.Fields(i)
	for _, field := range pages[page].Fields {
		if field.Said {
			m.Components = append(m.Components, Text{typeText, saidAbove(i.Fields()[field.Question])})
			continue
		}
		in := fieldLabel(all[field.Question], field, f.View.Draft)
		if paged && in.Description == "" {
			in.Description, paged = keeps(page+1, len(pages)), false
		}
		m.Components = append(m.Components, in)
	}
	return m, nil
}

// says shows the text of a request above the inputs, unless the title is
// enough.
func (m *Modal) says(v bridge.View, enough bool) {
	if !enough {
		m.Title = render.TitleAnswer
		m.Components = append(m.Components, Text{typeText, context(v)})
	}
}

// context returns the headline and the start of the request, because a modal
// covers the card.
func context(v bridge.View) string {
	c := render.NewCard(v, func(bridge.Question) bool { return false })
	return join("### "+inline(c.Head), clip(c.Body, maxModalContext))
}

// keeps describes the button of one page of a form.
func keeps(page, of int) string {
	return fmt.Sprintf("“Submit” saves page %d of %d. It sends nothing yet.", page, of)
}

// submits describes the button of a modal, because Discord labels every such
// button "Submit".
func submits(does string) string { return "“Submit” = “" + does + "”" }

func name(q bridge.Question) string {
	switch {
	case q.Header != "":
		return render.Line(q.Header)
	case q.Text != "":
		return render.Line(q.Text)
	case q.FreeText():
		return render.TitleAnswer
	case q.Multiple():
		return "Choose one or more"
	}
	return "Choose one"
}

func label(text, hint string, c Component) Label {
	return Label{Type: typeLabel, Label: render.Cut(text, maxLabel, render.Runes), Description: render.Cut(hint, maxLabelHint, render.Runes), Component: c}
}

// captions returns the label of an input and the text below it.
func captions(q bridge.Question) (text, hint string) {
	text, hint = name(q), render.Line(q.Description)
	if t := render.Line(q.Text); hint == "" && (t != text && t != "" || render.Runes(text) > maxLabel) {
		hint = t
	}
	return text, hint
}

func fieldLabel(q bridge.Field, f Field, d *bridge.Draft) Label {
	value, other := d.Value(q)
	text, hint := captions(q.Question)
	if hint == "" && q.Placeholder != "" {
		hint = q.Example() // the input itself shows the placeholder
	}
	if f.Other {
		no := false
		return label(render.LabelOtherField+": "+text, "", Component{Type: typeTextInput, CustomID: f.id(), Style: 2, Required: &no, MaxLength: bridge.DefaultMaxLength, Value: other})
	}
	id := f.id()
	if q.FreeText() {
		return label(text, hint, textInput(q.Question, id, value))
	}
	split := f.From > 0 || f.To < len(q.Options)
	if split {
		text = render.Cut(text, maxLabel-10, render.Runes) + " " + strconv.Itoa(f.From+1) + "–" + strconv.Itoa(f.To)
	}
	return label(text, hint, choice(q.Question, f, id, value, split))
}

func textInput(q bridge.Question, id string, value bridge.Answer) Component {
	required := q.IsRequired()
	c := Component{Type: typeTextInput, CustomID: id, Style: 1, Required: &required, MinLength: q.MinLength, MaxLength: q.MaxLength, Value: value.String()}
	if q.Widget == bridge.WidgetTextarea {
		c.Style = 2
	}
	hint := q.Placeholder
	if hint == "" {
		hint = q.Example()
	}
	c.Placeholder = render.Cut(render.Line(hint), maxPlaceholder, render.Runes)
	return c
}

func choice(q bridge.Question, f Field, id string, value bridge.Answer, split bool) Component {
	// If a question has several inputs, each may be left empty. The engine
	// checks that one of them has a value.
	required := q.IsRequired() && !split && !q.AllowOther
	c := Component{Type: typeSelect, CustomID: id, Required: &required}
	for n := f.From; n < f.To; n++ {
		o := Option{Label: render.OptionLabel(q, n, maxOption, render.Runes), Value: strconv.Itoa(n), Description: optionHint(q.Options[n])}
		for _, v := range value.Values() {
			o.Default = o.Default || v == q.Options[n].Value
		}
		c.Options = append(c.Options, o)
	}
	n := len(c.Options)
	switch {
	case q.Multiple() && n <= maxGroup && !split:
		c.Type = typeCheckboxGroup
	case !q.Multiple() && n >= minRadio && n <= maxGroup && !split && q.Widget != bridge.WidgetSelect:
		c.Type = typeRadioGroup
		return c
	}
	c.MinValues, c.MaxValues = bounds(q, n, required, split)
	return c
}

// bounds returns the minimum and maximum number of the n options that can be
// chosen.
func bounds(q bridge.Question, n int, required, split bool) (least *int, most int) {
	least, most = new(int), 1
	if required {
		*least = 1
	}
	if !q.Multiple() {
		return least, most
	}
	most = n
	if split || q.AllowOther {
		return least, most
	}
	if required {
		*least = max(1, q.MinChoices)
	}
	if q.MaxChoices > 0 {
		most = min(n, q.MaxChoices)
	}
	return least, most
}
