package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// NothingYet is the text for a field without a value.
const NothingYet = "–"

// FieldText returns the question of a field as a document.
func FieldText(f bridge.Field) []Block {
	switch {
	case f.Markdown:
		return Markdown(f.Text)
	case strings.TrimSpace(f.Text) == "":
		return nil
	}
	return []Block{Para(Clean(f.Text))}
}

// Formatted reports whether a question is more than one line of plain text.
func Formatted(f bridge.Field) bool {
	return f.Markdown && Line(f.Text) != Line(PlainText(FieldText(f)))
}

// Fields returns the fields of a request for inputs. The labels of inputs have
// no formatting.
func Fields(i bridge.Interaction) []bridge.Field {
	out := i.Fields()
	for n, f := range out {
		if f.Markdown {
			out[n].Text = Line(PlainText(FieldText(f)))
		}
	}
	return out
}

// FieldName returns the header and the question of a field.
func FieldName(f bridge.Field) string {
	text := strings.TrimSpace(PlainText(FieldText(f)))
	switch {
	case text == "":
		return Line(f.Header)
	case f.Header != "":
		return "[" + Line(f.Header) + "] " + text
	}
	return text
}

// Drafted returns the value of a field in a draft, as text.
func Drafted(d *bridge.Draft, f bridge.Field) string {
	value, other := d.Value(f)
	s := ""
	if !value.Empty() {
		s = Clean(f.Labels(value))
	}
	if other != "" {
		if s != "" {
			s += ", "
		}
		s += Clean(other)
	}
	if s == "" {
		return NothingYet
	}
	return s
}

// reviewRoom is the maximum length of all names in a review, and of all values,
// in characters. Both must fit next to the prompt in the smallest message.
const reviewRoom = 1500

// Review lists every field with its value in the draft.
func Review(v bridge.View) []Block {
	doc := []Block{{Kind: Heading, Spans: []Span{{Text: "Check and submit"}}}}
	fields := Fields(v.Record.Interaction)
	room := max(20, reviewRoom/max(1, len(fields)))
	for n, f := range fields {
		doc = append(doc,
			Block{Kind: Paragraph, Spans: []Span{{Text: strconv.Itoa(n+1) + "/" + strconv.Itoa(len(fields)) + "  ", Bold: true}, {Text: Cut(FieldName(f), room, Runes), Bold: true}}},
			Block{Kind: Quote, Inner: []Block{Para(Cut(Drafted(v.Draft, f), room, Runes))}})
	}
	return doc
}

// maxContents and maxContent are the lengths of the list of fields, and of one
// name in it, in characters.
const (
	maxContents = 600
	maxContent  = 40
)

// counts states the number of fields of a form, and of those that are required.
func counts(fields []bridge.Field) string {
	required := 0
	for _, f := range fields {
		if f.IsRequired() {
			required++
		}
	}
	count := map[int]string{0: "none required", len(fields): "all required"}[required]
	return fmt.Sprintf("%d fields, %s", len(fields), cmp.Or(count, fmt.Sprint(required)+" required"))
}

// Contents lists the fields of a form that a person fills in elsewhere: in a
// dialog, or one field at a time. Required fields come first.
func Contents(fields []bridge.Field) Block {
	var required, optional []string
	for _, f := range fields {
		name := Cut(cmp.Or(Line(f.Header), Line(PlainText(FieldText(f))), f.ID), maxContent, Runes)
		if f.IsRequired() {
			required = append(required, name)
		} else {
			optional = append(optional, name)
		}
	}
	var spans []Span
	for _, part := range []struct {
		label string
		names []string
	}{{"Required", required}, {"Optional", optional}} {
		if len(part.names) == 0 {
			continue
		}
		if len(spans) > 0 {
			spans = append(spans, Span{Text: "\n"})
		}
		spans = append(spans, Span{Text: part.label + "  ", Bold: true}, Span{Text: Cut(strings.Join(part.names, ", "), maxContents, Runes)})
	}
	return Block{Kind: Paragraph, Spans: spans}
}

// Format describes the expected form of an answer to a field. It is empty if
// any text is allowed, or if only the options are.
func Format(f bridge.Field) string {
	switch example := f.Example(); {
	case example != "":
		return example
	case f.FreeText() && f.MinLength > 0 && f.MaxLength > 0:
		return fmt.Sprintf("%d to %d characters", f.MinLength, f.MaxLength)
	case f.FreeText() && f.MinLength > 0:
		return "at least " + plural(f.MinLength, "character")
	case f.FreeText() && f.MaxLength > 0 && f.MaxLength != bridge.DefaultMaxLength:
		return "up to " + plural(f.MaxLength, "character")
	case f.Multiple() && f.MinChoices > 0 && f.MaxChoices > 0:
		return fmt.Sprintf("choose %d to %d", f.MinChoices, f.MaxChoices)
	case f.Multiple() && f.MinChoices > 1:
		return "choose at least " + strconv.Itoa(f.MinChoices)
	case f.Multiple() && f.MaxChoices > 0:
		return "choose up to " + strconv.Itoa(f.MaxChoices)
	case f.Multiple():
		return "choose one or more"
	case len(f.Options) > 0:
		return "choose one"
	}
	return ""
}

// Step states whether a field of a form is required, and the expected form of
// an answer.
func Step(f bridge.Field) Block {
	said := "Optional"
	if f.IsRequired() {
		said = "Required"
	}
	if rule := Format(f); rule != "" {
		said += ": " + rule
	}
	return Block{Kind: Paragraph, Spans: []Span{{Text: said, Italic: true}}}
}

// maxSoFar is the maximum length of the answers that a step of a form repeats,
// in characters.
const maxSoFar = 600

// SoFar lists the answers of a draft to the other fields, on one line each. It
// returns nil if there are none.
func SoFar(d *bridge.Draft, fields []bridge.Field, except int) []Block {
	var lines []string
	for n, f := range fields {
		if s := Drafted(d, f); n != except && s != NothingYet {
			name := cmp.Or(Line(f.Header), Line(PlainText(FieldText(f))), f.ID)
			lines = append(lines, Cut(name, maxContent, Runes)+": "+Cut(Line(s), maxContent, Runes))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	text := Cut(strings.Join(lines, "\n"), maxSoFar, Runes)
	return []Block{{Kind: Paragraph, Spans: []Span{{Text: "Answered so far", Bold: true}}}, {Kind: Quote, Inner: []Block{Para(text)}}}
}

// maxLabelled is the maximum length of a text that an input shows in full on
// every platform, in characters.
const maxLabelled = 300

// needsCard reports whether an input may show only a part of a field, so that
// people must read the rest on the card.
func needsCard(f bridge.Field) bool {
	if f.Markdown || HasPreviews(f.Question) || Runes(FieldName(f))+Runes(f.Description) > maxLabelled {
		return true
	}
	return slices.ContainsFunc(f.Options, func(o bridge.Option) bool {
		return Runes(o.Text()) > maxOptionShown || Runes(o.Description) > maxOptionShown
	})
}

// maxOptionShown is the maximum length of the name, and of the description, of
// an option that a menu shows in full on every platform, in characters.
const maxOptionShown = 75
