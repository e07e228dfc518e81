package render

import (
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// NothingYet stands for a value that was not given.
const NothingYet = "–"

// FieldName is what a field asks, with its chip.
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

// Drafted is what a draft holds for a field, in words.
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

// reviewRoom is how many characters the names and the values of a review have
// each; it has to fit beside the prompt in the tightest message.
const reviewRoom = 1500

// Review lists every field with what the draft holds for it.
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
