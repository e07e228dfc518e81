package slackmsg

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// CallbackID is the callback ID of nod's modals.
const CallbackID = "nod"

// The block ID of an input is valuePrefix or otherPrefix with the index of the
// question, or TypedBlock. A "-" and the text after it only make the ID unique.
const (
	valuePrefix = "q"
	otherPrefix = "x"
	// TypedBlock is the block ID of the input for the text of a decision.
	TypedBlock = "reason"
	// AlwaysBlock is the block ID of the checkbox that denies always.
	AlwaysBlock = "always"
	actionID    = "v"
)

// Field identifies an input block.
type Field struct {
	Question int
	Other    bool // the free text next to the options
	Typed    bool // text of a decision
}

// ParseField reads the block ID of an input. It returns false for any other
// block.
func ParseField(blockID string) (Field, bool) {
	name, _, _ := strings.Cut(blockID, "-")
	if name == TypedBlock {
		return Field{Typed: true}, true
	}
	if len(name) < 2 || (name[:1] != valuePrefix && name[:1] != otherPrefix) {
		return Field{}, false
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 0 || n >= bridge.MaxFields {
		return Field{}, false
	}
	return Field{Question: n, Other: name[:1] == otherPrefix}, true
}

// Modal writes the form of a control as a view. The submission of the form
// contains metadata. It returns CodeUnsupported if the form is too large.
func Modal(f bridge.Form, metadata string) (slack.ModalViewRequest, error) {
	i := f.View.Record.Interaction
	title, submit := render.TitleAnswer, render.LabelSubmit
	asks, titled := render.FormTitle(f.View, maxModalTitle, cost)
	var blocks []slack.Block
	switch {
	case f.Control.Option == bridge.OptionRead:
		title, submit, blocks = render.TitleRead, "", wholePrivate(f.View, false)
	case f.Control.Option == bridge.OptionReview && (i.Kind == bridge.KindApproval || i.LonePlan()):
		title, submit, blocks = render.TitleReview, "", append(wholePrivate(f.View, false), reviewControls(f.View)...)
	case f.Control.Option == bridge.OptionDecide && i.LonePlan():
		title, submit, blocks = render.ReadTitle(i), render.LabelApprove, wholeText(f.View, false)
	case render.Opens(f) && !render.AsksReason(f):
		title, submit, blocks = stated(f)
	case f.Control.Option == bridge.OptionReason, f.Control.Option == bridge.OptionEdit, f.Control.Option == bridge.OptionConfirm,
		f.Control.Option == bridge.OptionDecide, f.Control.Option == bridge.OptionMessage:
		t := render.Typed(f)
		title, submit, blocks = t.Title, t.Submit, typedBlocks(f, t)
	case f.Control.Option == bridge.OptionOther:
		in := slack.NewPlainTextInputBlockElement(nil, actionID)
		in.Multiline, in.MaxLength, in.FocusOnLoad = true, bridge.DefaultMaxLength, true
		q := render.Fields(i)[f.Control.Question]
		if titled {
			title = asks
		}
		blocks = append(wholeText(f.View, titled), slack.NewInputBlock(otherPrefix+strconv.Itoa(f.Control.Question), plain(fieldLabel(q.Question), maxLabel), nil, in))
	default:
		switch titled = titled && !i.LonePlan(); {
		case i.LonePlan():
			title = render.TitleChanges
		case titled:
			title = asks
		}
		blocks = wholePrivate(f.View, titled)
		if raw, err := json.Marshal(blocks); i.LonePlan() && (err != nil || len(raw) > maxView/2) {
			blocks = []slack.Block{context(f.View)} // the form approves nothing
		}
		all, texts := render.Fields(i), i.Fields()
		for _, n := range i.FormFields() {
			if render.Formatted(texts[n]) {
				blocks = append(blocks, richText("", render.FieldText(texts[n])))
			}
			blocks = append(blocks, fields(n, all[n], f.View.Draft)...)
		}
		if f.Control.Option == bridge.OptionReview {
			blocks = append(blocks, reviewControls(f.View)...)
		}
	}
	m := slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CallbackID, PrivateMetadata: metadata,
		Title: plain(title, maxModalTitle), Submit: plain(submit, maxModalTitle), Close: plain("Cancel", maxModalTitle),
		Blocks: slack.Blocks{BlockSet: blocks},
	}
	if submit == "" {
		m.Submit, m.Close = nil, plain("Close", maxModalTitle)
	}
	raw, err := json.Marshal(m)
	if err != nil || len(raw) > maxView || len(blocks) > maxViewBlocks {
		return m, bridge.Errorf(bridge.CodeUnsupported, "slack: the request with %d fields is too large for a dialog (%d of %d bytes, %d of %d blocks)",
			len(i.Fields()), len(raw), maxView, len(blocks), maxViewBlocks).WithHint("turn on the console, or send a shorter request")
	}
	return m, nil
}

// stated returns the title, the label of the submission and the blocks of a form
// that states what a decision covers.
func stated(f bridge.Form) (title, submit string, blocks []slack.Block) {
	i := f.View.Record.Interaction
	m := render.NewMenu(f)
	c := m.Choices[0]
	if title, submit = m.Title, c.Label; max(cost(title), cost(submit)) > maxModalTitle {
		blocks = append(blocks, richText("", []render.Block{{Kind: render.Heading, Spans: []render.Span{{Text: title}}}}))
		title = render.TitleConfirm
		submit, _, _ = strings.Cut(submit, " ")
	}
	d := i.Decisions()[f.Control.Question]
	blocks = append(blocks, about(f.View, d)...)
	if d == bridge.DecideOnce {
		title = render.ReadTitle(i)
	}
	if len(c.Text) > 0 {
		blocks = append(blocks, richText("", c.Text))
	}
	return title, submit, blocks
}

// about returns the text about the request in a form. If the form approves,
// this is the complete request.
func about(v bridge.View, d bridge.Decision) []slack.Block {
	if d.Approves() {
		return wholeText(v, false)
	}
	return []slack.Block{context(v)}
}

// typedBlocks returns the blocks of a form for the text of a decision.
func typedBlocks(f bridge.Form, t render.TypedInput) []slack.Block {
	i := f.View.Record.Interaction
	in := slack.NewPlainTextInputBlockElement(nil, actionID)
	in.Multiline, in.MaxLength, in.FocusOnLoad, in.InitialValue = t.Lines, t.MaxLength, true, t.Initial
	var hint *slack.TextBlockObject
	if t.Hint != "" {
		hint = plain(t.Hint, maxLabel)
	}
	d := bridge.DecideDenyReason
	if o := f.Control.Option; o != bridge.OptionReason && o != bridge.OptionMessage {
		d = i.Decisions()[f.Control.Question]
	}
	blocks := about(f.View, d)
	if len(t.Text) > 0 {
		blocks = append(blocks, richText("", t.Text))
	}
	input := slack.NewInputBlock(TypedBlock, plain(t.Label, maxLabel), hint, in)
	input.Optional = t.Optional
	blocks = append(blocks, input)
	if f.Control.Option != bridge.OptionReason || !alwaysWithReason(i) {
		return blocks
	}
	option := slack.NewOptionBlockObject("always", plain(render.LabelDenyAlways, maxOption), nil)
	box := slack.NewCheckboxGroupsBlockElement(actionID, option)
	always := slack.NewInputBlock(AlwaysBlock, plain(render.LabelDenyAlways, maxLabel), plain(render.AlwaysHint(i), maxLabel), box)
	always.Optional = true
	return append(blocks, always)
}

// AlwaysToken returns the token of the submission of a form whose box
// AlwaysBlock is checked. It is empty if the form has no such box.
func AlwaysToken(f bridge.Form) string {
	i := f.View.Record.Interaction
	if f.Control.Option != bridge.OptionReason || !alwaysWithReason(i) {
		return ""
	}
	return f.View.Token(bridge.ActionSubmit, slices.Index(i.Decisions(), bridge.DecideDenyAlways), bridge.OptionDecide)
}

// context returns the start of the prompt, because a form on a phone covers the
// card.
func context(v bridge.View) slack.Block {
	c := render.NewCard(v, func(bridge.Question) bool { return false })
	doc, _ := clip(c.Body, maxModalContext)
	return richText("", append([]render.Block{{Kind: render.Heading, Spans: c.Head}}, doc...))
}

func fields(n int, f bridge.Field, d *bridge.Draft) []slack.Block {
	var out []slack.Block
	if listed(f.Question) {
		out = append(out, richText("", []render.Block{render.OptionList(f.Question)}))
	}
	value, other := d.Value(f)
	label := fieldLabel(f.Question)
	if f.Header != "" && f.Text != "" {
		label = render.Line(f.Header) + ": " + label
	}
	for _, text := range []string{label, render.Line(f.Description)} {
		if cost(text) > maxLabel { // the input shows only the start of the text
			out = append(out, richText("", []render.Block{render.Para(text)}))
		}
	}
	in := slack.NewInputBlock(valuePrefix+strconv.Itoa(n), plain(label, maxLabel), nil, nil)
	hint := f.Description
	if hint == "" && picksTime(f.Question) {
		hint = f.Placeholder // a picker has no placeholder
	}
	if hint != "" {
		in.Hint = plain(render.Line(hint), maxLabel)
	}
	// A question with free text next to the options has two inputs, and either
	// may be left empty. The engine checks that one of them has a value.
	in.Optional = !f.IsRequired() || f.AllowOther
	if f.FreeText() {
		in.Element = typed(f.Question, value)
		return append(out, in)
	}
	in.Element = choice(f.Question, value)
	out = append(out, in)
	if f.AllowOther {
		e := slack.NewPlainTextInputBlockElement(nil, actionID)
		e.MaxLength, e.InitialValue = bridge.DefaultMaxLength, render.Cut(other, maxInitial, render.UTF16)
		x := slack.NewInputBlock(otherPrefix+strconv.Itoa(n), plain(render.LabelOtherField, maxLabel), nil, e)
		x.Optional = true
		out = append(out, x)
	}
	return out
}

// typed returns the native input of a typed answer. It omits a value from an
// earlier attempt that the native input would refuse.
func typed(q bridge.Question, value bridge.Answer) slack.BlockElement {
	hint := q.Placeholder
	if hint == "" {
		hint = q.Example()
	}
	var placeholder *slack.TextBlockObject
	if hint != "" {
		placeholder = plain(hint, maxPlaceholder)
	}
	initial := value.String()
	if _, problem := q.Check(value, ""); problem != "" && q.Widget != bridge.WidgetText && q.Widget != bridge.WidgetTextarea {
		initial = ""
	}
	switch q.Widget {
	case bridge.WidgetNumber:
		e := slack.NewNumberInputBlockElement(placeholder, actionID, !q.Integer)
		e.InitialValue = initial
		if q.Min != nil {
			e.MinValue = number(*q.Min)
		}
		if q.Max != nil {
			e.MaxValue = number(*q.Max)
		}
		return e
	case bridge.WidgetDate:
		e := slack.NewDatePickerBlockElement(actionID)
		e.Placeholder, e.InitialDate = placeholder, initial
		return e
	case bridge.WidgetTime:
		e := slack.NewTimePickerBlockElement(actionID)
		e.Placeholder, e.InitialTime = placeholder, initial
		return e
	case bridge.WidgetDateTime:
		if picksTime(q) {
			e := slack.NewDateTimePickerBlockElement(actionID)
			e.InitialDateTime = seconds(initial)
			return e
		}
	case bridge.WidgetEmail:
		e := slack.NewEmailTextInputBlockElement(placeholder, actionID)
		e.InitialValue = initial
		return e
	case bridge.WidgetURL:
		e := slack.NewURLTextInputBlockElement(placeholder, actionID)
		e.InitialValue = initial
		return e
	}
	e := slack.NewPlainTextInputBlockElement(placeholder, actionID)
	e.Multiline, e.MinLength, e.MaxLength = q.Widget == bridge.WidgetTextarea, q.MinLength, q.MaxLength
	e.InitialValue = render.Cut(initial, maxInitial, render.UTF16)
	return e
}

// picksTime reports whether a question is answered with a picker for a date and
// a time. The picker answers in UTC, which a pattern or a minimum length may
// refuse.
func picksTime(q bridge.Question) bool {
	return q.Widget == bridge.WidgetDateTime && q.Pattern == "" && q.MinLength <= len("2006-01-02T15:04:05Z")
}

// seconds returns the Unix time of an answer. It returns zero for a time that
// Slack does not accept: Slack requires 10 digits.
func seconds(answer string) int64 {
	t, err := time.Parse(time.RFC3339, answer)
	if n := t.Unix(); err == nil && n >= 1_000_000_000 && n <= 9_999_999_999 {
		return n
	}
	return 0
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// choice returns the element that offers the options: the element of the widget
// if the options fit, otherwise a select, with groups if there are more than
// 100 options. Value is the current choice.
func choice(q bridge.Question, value bridge.Answer) slack.BlockElement {
	options := make([]*slack.OptionBlockObject, len(q.Options))
	var initial []*slack.OptionBlockObject
	for n, o := range q.Options {
		var description *slack.TextBlockObject
		if o.Description != "" && (inMenu(q) || !listed(q)) {
			description = plain(render.Line(o.Description), maxOption)
		}
		options[n] = slack.NewOptionBlockObject(strconv.Itoa(n), plain(render.OptionLabel(q, n, maxOption, cost), maxOption), description)
		for _, v := range value.Values() {
			if v == o.Value {
				initial = append(initial, options[n])
			}
		}
	}
	placeholder := plain("Choose…", maxPlaceholder)
	switch {
	case q.Multiple() && !inMenu(q):
		e := slack.NewCheckboxGroupsBlockElement(actionID, options...)
		e.InitialOptions = initial
		return e
	case q.Multiple():
		e := &slack.MultiSelectBlockElement{Type: slack.MultiOptTypeStatic, ActionID: actionID, Placeholder: placeholder, InitialOptions: initial}
		if q.MaxChoices > 0 && !q.AllowOther {
			e.MaxSelectedItems = &q.MaxChoices
		}
		e.Options, e.OptionGroups = groups(options)
		return e
	case !inMenu(q):
		e := slack.NewRadioButtonsBlockElement(actionID, options...)
		if len(initial) > 0 {
			e.InitialOption = initial[0]
		}
		return e
	}
	e := &slack.SelectBlockElement{Type: slack.OptTypeStatic, ActionID: actionID, Placeholder: placeholder}
	e.Options, e.OptionGroups = groups(options)
	if len(initial) > 0 {
		e.InitialOption = initial[0]
	}
	return e
}

// inMenu reports whether the options of a question are visible only in an open
// menu.
func inMenu(q bridge.Question) bool {
	return len(q.Options) > maxRadio || !q.Multiple() && q.Widget == bridge.WidgetSelect
}

// groups splits options that are too many for one list.
func groups(options []*slack.OptionBlockObject) ([]*slack.OptionBlockObject, []*slack.OptionGroupBlockObject) {
	if len(options) <= maxSelect {
		return options, nil
	}
	var out []*slack.OptionGroupBlockObject
	for at := 0; at < len(options); at += maxSelect {
		end := min(at+maxSelect, len(options))
		label := strconv.Itoa(at+1) + "–" + strconv.Itoa(end)
		out = append(out, slack.NewOptionGroupBlockElement(plain(label, maxOption), options[at:end]...))
	}
	return nil, out
}
