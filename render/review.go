package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// NothingYet is shown for a field without a value.
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

// Formatted reports whether a question has more than the text of one line.
func Formatted(f bridge.Field) bool {
	return f.Markdown && Line(f.Text) != Line(PlainText(FieldText(f)))
}

// Fields returns the fields of a request for inputs, whose labels have no
// formatting.
func Fields(i bridge.Interaction) []bridge.Field {
	out := i.Fields()
	for n, f := range out {
		if f.Markdown {
			out[n].Text = Line(PlainText(FieldText(f)))
		}
	}
	return out
}

// FieldName returns the question of a field, with its header.
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

// Drafted returns the value that a draft has for a field, as text.
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

// reviewRoom limits the characters of all names in a review, and of all values.
// Both must fit next to the prompt in the smallest message.
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

// Contents lists the fields of a form that a person fills in elsewhere: in a
// dialog, or one after the other.
func Contents(fields []bridge.Field) Block {
	required := 0
	names := make([]string, len(fields))
	for n, f := range fields {
		name := cmp.Or(Line(f.Header), Line(PlainText(FieldText(f))), f.ID)
		names[n] = Cut(name, maxContent, Runes)
		if f.IsRequired() {
			required++
		}
	}
	count := map[int]string{0: "none", len(fields): "all"}[required]
	text := fmt.Sprintf("%d fields, %s required: ", len(fields), cmp.Or(count, fmt.Sprint(required))) + strings.Join(names, " · ")
	return Block{Kind: Paragraph, Spans: []Span{{Text: Cut(text, maxContents, Runes), Italic: true}}}
}

// maxLabelled is the length of the texts that an input shows in full on every
// platform, in characters.
const maxLabelled = 300

// needsCard reports whether no input shows a field as a whole: people read the
// rest of it on the card.
func needsCard(f bridge.Field) bool {
	if f.Markdown || HasPreviews(f.Question) || Runes(FieldName(f))+Runes(f.Description) > maxLabelled {
		return true
	}
	return slices.ContainsFunc(f.Options, func(o bridge.Option) bool {
		return Runes(o.Text()) > maxOptionShown || Runes(o.Description) > maxOptionShown
	})
}

// maxOptionShown is the length of the name and of the description of an option
// that a menu shows in full on every platform, in characters.
const maxOptionShown = 75
