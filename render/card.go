package render

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Card is what a message says, without its controls.
type Card struct {
	Icon     string
	Headline string
	// Notice is the text of a notification: one line, never empty.
	Notice string
	// From says who asks.
	From string
	// Body is the prompt and, for an approval, what is to be approved. It must
	// be shown whole before the card may be answered.
	Body []Block
	// Questions are listed where there are several, or where options say more
	// than fits their controls.
	Questions []Block
	// Closing says how it ended; empty while pending.
	Closing []Block
	// Digest is a short form of the digest the decision is bound to; approvals
	// only.
	Digest string
	Closed bool
}

// NewCard builds the card of a view. listOptions tells that labels do not fit
// the controls of the service and have to be listed in the text.
func NewCard(v bridge.View, listOptions func(bridge.Question) bool) Card {
	r := v.Record
	i := r.Interaction
	c := Card{From: from(i), Closed: r.State.Final(), Closing: closing(r)}
	c.Icon, c.Headline = headline(r)
	if len(i.Questions) == 1 && i.Questions[0].Header != "" {
		c.Headline += " · " + Line(i.Questions[0].Header)
	}
	c.Body = Markdown(i.Prompt)
	subject := subjectOf(c.Body)
	if i.Approval != nil {
		code := Input(*i.Approval)
		c.Body = append(c.Body, code...)
		if len(i.Digest) >= 12 {
			c.Digest = "sha256:" + i.Digest[:12]
		}
	}
	c.Notice = notice(r, subject)
	for n, q := range i.Questions {
		c.Questions = append(c.Questions, questionBlocks(r, q, n, listOptions(q))...)
	}
	return c
}

// subjectOf is the first words of a document on one line.
func subjectOf(doc []Block) string {
	for _, b := range doc {
		s := Line(PlainText([]Block{b}))
		if s != "" {
			return Cut(s, 150, Runes)
		}
	}
	return "(no text)"
}

func questionBlocks(r bridge.Record, q bridge.Question, n int, listOptions bool) []Block {
	several := len(r.Interaction.Questions) > 1
	title := []Span{}
	if several {
		title = append(title, Span{Text: strconv.Itoa(n+1) + ". ", Bold: true})
	}
	if several && q.Header != "" {
		title = append(title, Span{Text: "[" + Line(q.Header) + "] ", Bold: true})
	}
	if q.Text != "" {
		title = append(title, Span{Text: Clean(q.Text), Bold: several})
	}
	var out []Block
	if len(title) > 0 {
		out = append(out, Block{Kind: Paragraph, Spans: title})
	}
	if r.State.Final() {
		if r.State == bridge.StateAnswered {
			answer := "(no answer)"
			if a, ok := r.Response.Answers[q.ID]; ok && !a.Empty() {
				answer = Clean(q.Labels(a))
			}
			out = append(out, Block{Kind: Quote, Inner: []Block{Para(answer)}})
		}
		return out
	}
	if listOptions && len(q.Options) > 0 {
		out = append(out, OptionList(q))
	}
	return out
}

// OptionList lists the options of a question with their descriptions, under
// the numbers that [OptionLabel] puts on controls.
func OptionList(q bridge.Question) Block {
	b := Block{Kind: List, Start: 1}
	for _, o := range q.Options {
		s := []Span{{Text: Line(o.Text()), Bold: true}}
		if o.Description != "" {
			s = append(s, Span{Text: ": " + Line(o.Description)})
		}
		b.Items = append(b.Items, []Block{{Kind: Paragraph, Spans: s}})
	}
	return b
}

// OptionLabel is the text on the control of option n: the label, or its start
// behind its number in the list if the label does not fit.
func OptionLabel(q bridge.Question, n, limit int, unit Unit) string {
	s := Line(q.Options[n].Text())
	if unit(s) <= limit {
		return s
	}
	return Cut(strconv.Itoa(n+1)+". "+s, limit, unit)
}

// LabelsFit reports whether every label fits a control of limit units.
func LabelsFit(q bridge.Question, limit int, unit Unit) bool {
	for _, o := range q.Options {
		if unit(Line(o.Text())) > limit {
			return false
		}
	}
	return true
}

// HasDescriptions reports whether any option carries a description.
func HasDescriptions(q bridge.Question) bool {
	for _, o := range q.Options {
		if o.Description != "" {
			return true
		}
	}
	return false
}

// Input shows what an approval is about: a shell tool's command, a file
// tool's path and change, anything else as JSON.
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
// texts. An argument list is shown quoted, as it would have to be typed.
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
		return nil // decoded from JSON a moment ago
	}
	return []Block{{Kind: Code, Text: Clean(strings.TrimRight(b.String(), "\n")), Lang: "json"}}
}

// ShellQuote writes one argument as a POSIX shell would have to be given it.
func ShellQuote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	safe := s != "" && strings.Trim(s, plain) == ""
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
