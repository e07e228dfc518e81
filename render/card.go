package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Card is the content of a message, without its controls.
type Card struct {
	Icon     string
	Headline string
	// Notice is the text of a notification: one line, never empty.
	Notice string
	// From names the agent and the origin of the request.
	From string
	// Body is the prompt and, for an approval, its input. It must be shown in
	// full before the card may be answered.
	Body []Block
	// Questions are listed if there are several, or if options have more text
	// than fits their controls.
	Questions []Block
	// Closing states the outcome. It is empty while the request is pending.
	Closing []Block
	// Digest is a short form of the digest that the decision is bound to. Only
	// approvals have one.
	Digest string
	Closed bool
	// Whole means that the body must be delivered in full.
	Whole bool
	// Full is the text to deliver if it is not Body and Questions: for example,
	// the body of a batch changes with each vote.
	Full []Block
}

// NewCard builds the card of a view. listOptions reports whether the labels of
// a question do not fit the controls of the platform and must be listed in the
// text.
func NewCard(v bridge.View, listOptions func(bridge.Question) bool) Card {
	r := v.Record
	i := r.Interaction
	c := Card{From: from(i), Closed: r.State.Final(), Closing: closing(r)}
	c.Whole = !c.Closed
	if i.Kind == bridge.KindNotice {
		c.Closed, c.Closing, c.Whole = true, nil, true // people see a notice in one state only
	}
	c.Icon, c.Headline = headline(r)
	if i.Risk != "" {
		c.Headline += " · " + Line(i.Risk) + " risk"
	}
	fields := i.Fields()
	if len(fields) == 1 && fields[0].Header != "" {
		c.Headline += " · " + Line(fields[0].Header)
	}
	prompt := Markdown(i.Prompt)
	c.Body = body(i, prompt, c.Closed)
	if i.Approval != nil && len(i.Digest) >= 12 {
		c.Digest = "sha256:" + i.Digest[:12]
	}
	c.Notice = notice(r, subjectOf(prompt))
	if i.LonePlan() && !c.Closed {
		return c // its buttons show the question
	}
	for n, f := range fields {
		if f.Part != "" && f.Of < len(i.Questions) && (n == 0 || fields[n-1].Of != f.Of) {
			c.Questions = append(c.Questions, partsTitle(i.Questions[f.Of])...)
		}
		c.Questions = append(c.Questions, fieldBlocks(r, f, n, len(fields) > 1, listOptions(f.Question))...)
	}
	return c
}

// body returns the prompt with its subject: a plan, or the input of a tool.
func body(i bridge.Interaction, prompt []Block, closed bool) []Block {
	var out []Block
	if i.Error != "" && !closed {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: "⚠️ "}, {Text: Clean(i.Error), Bold: true}}})
	}
	out = append(out, prompt...)
	for _, q := range i.Questions {
		if q.Widget == bridge.WidgetPlanReview {
			out = append(append(out, Block{Kind: Rule}), Markdown(q.Plan)...)
		}
	}
	if i.Approval == nil {
		return out
	}
	out = append(out, Input(*i.Approval)...)
	if !closed {
		out = append(out, scopeNotes(i)...)
	}
	return out
}

// partsTitle returns the text of a question that has several fields.
func partsTitle(q bridge.Question) []Block {
	if q.Text == "" || q.Widget == bridge.WidgetPlanReview {
		return nil
	}
	out := []Block{{Kind: Paragraph, Spans: []Span{{Text: Clean(q.Text), Bold: true}}}}
	if q.Description != "" {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: Clean(q.Description), Italic: true}}})
	}
	return out
}

// subjectOf returns the first words of a document on one line.
func subjectOf(doc []Block) string {
	for _, b := range doc {
		s := Line(PlainText([]Block{b}))
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
	if f.Text != "" {
		title = append(title, Span{Text: Clean(f.Text), Bold: several})
	}
	var out []Block
	if len(title) > 0 {
		out = append(out, Block{Kind: Paragraph, Spans: title})
	}
	if r.State.Final() {
		if r.State == bridge.StateAnswered {
			out = append(out, Block{Kind: Quote, Inner: []Block{Para(given(r, f))}})
		}
		return out
	}
	if f.Description != "" {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: Clean(f.Description), Italic: true}}})
	}
	if listOptions && len(f.Options) > 0 {
		out = append(out, OptionList(f.Question))
	}
	return out
}

// given returns an answer as the closed card shows it.
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

// OptionList lists the options of a question with their descriptions, under the
// numbers that [OptionLabel] shows on controls.
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

// OptionLabel returns the text on the control of option n: the label, or if
// that does not fit, its number in the list and its start.
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

// Input renders the input of an approval: the command of a shell tool, the path
// and change of a file tool, and anything else as JSON.
func Input(a bridge.Approval) []Block {
	if len(a.Input) == 0 || string(a.Input) == "null" {
		return nil
	}
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(a.Input))
	dec.UseNumber()
	if dec.Decode(&fields) == nil {
		if cmd, rest := take(fields, "command", "cmd", "argv"); cmd != "" {
			out := []Block{{Kind: Code, Text: Clean(cmd), Lang: "sh"}}
			return append(out, jsonBlock(rest)...)
		}
		if path, rest := take(fields, "file_path", "path", "filename"); path != "" {
			out := []Block{{Kind: Paragraph, Spans: []Span{{Text: Clean(path), Code: true}}}}
			if diff, others := take(rest, "diff", "patch"); diff != "" {
				out = append(out, Block{Kind: Code, Text: Clean(diff), Lang: "diff"})
				rest = others
			}
			return append(out, jsonBlock(rest)...)
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, a.Input, "", "  "); err != nil {
		return []Block{{Kind: Code, Text: Clean(string(a.Input))}}
	}
	return []Block{{Kind: Code, Text: Clean(pretty.String()), Lang: "json"}}
}

// take removes the first of the named fields that holds a text or a list of
// texts. It quotes a list of arguments as it would have to be typed.
func take(fields map[string]any, names ...string) (string, map[string]any) {
	for _, name := range names {
		text := ""
		switch v := fields[name].(type) {
		case string:
			text = v
		case []any:
			words := make([]string, 0, len(v))
			for _, w := range v {
				s, ok := w.(string)
				if !ok {
					return "", fields
				}
				words = append(words, ShellQuote(s))
			}
			text = strings.Join(words, " ")
		}
		if text == "" {
			continue
		}
		rest := map[string]any{}
		for k, v := range fields {
			if k != name {
				rest[k] = v
			}
		}
		return text, rest
	}
	return "", fields
}

func jsonBlock(fields map[string]any) []Block {
	if len(fields) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(fields); err != nil {
		return nil // cannot happen: it was decoded from JSON
	}
	return []Block{{Kind: Code, Text: Clean(strings.TrimRight(b.String(), "\n")), Lang: "json"}}
}

// ShellQuote quotes one argument for a POSIX shell.
func ShellQuote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	safe := s != "" && strings.Trim(s, plain) == ""
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
