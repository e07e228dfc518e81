package render

import (
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// NothingYet is shown for a field without a value.
const NothingYet = "–"

// FieldName returns the question of a field, with its header.
func FieldName(f bridge.Field) string {
	text := Clean(f.Text)
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
	fields := v.Record.Interaction.Fields()
	room := max(20, reviewRoom/max(1, len(fields)))
	for n, f := range fields {
		doc = append(doc,
			Block{Kind: Paragraph, Spans: []Span{{Text: strconv.Itoa(n+1) + "/" + strconv.Itoa(len(fields)) + "  ", Bold: true}, {Text: Cut(FieldName(f), room, Runes), Bold: true}}},
			Block{Kind: Quote, Inner: []Block{Para(Cut(Drafted(v.Draft, f), room, Runes))}})
	}
	return doc
}
