package render

import (
	"fmt"
	"strings"
)

// Extent describes the part of a document that its excerpt shows: the lines of
// its code, or the items of its list, such as the steps of a plan. It returns
// an empty string if the document has neither.
func Extent(doc, shown []Block) string {
	for n, s := range shown {
		if n == len(doc) || doc[n].Kind != s.Kind {
			return ""
		}
		some, all, what := 0, 0, "lines"
		switch b := doc[n]; b.Kind {
		case Code:
			text := strings.TrimRight(b.Text, "\n")
			if !strings.HasPrefix(text, s.Text) { // the last line of s is cut
				s.Text = s.Text[:max(0, strings.LastIndexByte(s.Text, '\n'))]
			}
			if s.Text != "" {
				some, all = strings.Count(s.Text, "\n")+1, strings.Count(text, "\n")+1
			}
		case List:
			some, all, what = len(s.Items), len(b.Items), "items"
			if b.Start > 0 {
				what = "steps"
			}
			if some > 0 && PlainText(s.Items[some-1]) == "…" {
				some--
			}
		}
		if some < all && some > 0 {
			return fmt.Sprintf("Shows %s 1–%s of %s.", what, Count(some), Count(all))
		}
	}
	return ""
}

// TextShortened is the note on a card that is incomplete.
const TextShortened = scissors + "Shortened here."

const scissors = "✂️ "

// Shortened returns the note on a card that shows an excerpt. The extent may be
// empty.
func Shortened(extent string) string {
	if extent == "" {
		return TextShortened
	}
	return scissors + extent
}

// Excerpt returns the start of a document that is too long: unchanged blocks,
// and the first part of the block that does not fit, in its own format. The
// agent's words stay in a quote, which is shortened to leave room for the
// decision. Size measures blocks, and unit their text.
func Excerpt(doc []Block, limit int, size func([]Block) int, unit Unit) []Block {
	var out []Block
	for n, b := range doc {
		room := limit - size(out)
		if b.Kind == Quote {
			b = cutQuote(b, min(room, limit/3), size, unit)
		}
		if size(append(out[:n:n], b)) <= limit {
			out = append(out, b)
			continue
		}
		if b, ok := cutBlock(b, room-1, size, unit); ok {
			return append(out, b)
		}
		return out
	}
	return out
}

// cutBlock returns the start of a block within limit. It reports false if no part
// of it fits.
func cutBlock(b Block, limit int, size func([]Block) int, unit Unit) (Block, bool) {
	switch b.Kind {
	case Code:
		around := size([]Block{{Kind: Code, Text: "x", Lang: b.Lang}}) - 1
		b.Text = Cut(b.Text, limit-around-1, unit)
		if n := strings.LastIndexByte(b.Text, '\n'); n > 0 {
			b.Text = b.Text[:n] // cut at the end of a line, so that people can count the lines
		}
		return b, b.Text != ""
	case Paragraph, Heading:
		around := size([]Block{{Kind: b.Kind, Spans: []Span{{Text: "x", Bold: true}}}}) - 1
		b.Spans = cutSpans(b.Spans, limit-around-1, unit)
		for size([]Block{b}) > limit && len(b.Spans) > 0 { // the markup of the block is long
			b.Spans = b.Spans[:len(b.Spans)-1]
		}
		return b, len(b.Spans) > 0
	case List:
		items := b.Items
		more := []Block{Para("…")}
		for n := range items {
			if b.Items = append(items[:n+1:n+1], more); size([]Block{b}) > limit {
				b.Items = append(items[:n:n], more)
				return b, n > 0
			}
		}
	}
	return b, false
}

// cutSpans returns the start of a text within limit.
func cutSpans(spans []Span, limit int, unit Unit) []Span {
	var out []Span
	for _, s := range spans {
		n := unit(s.Text)
		if n <= limit {
			out, limit = append(out, s), limit-n
			continue
		}
		if s.Text, s.URL, s.Mention = Cut(s.Text, limit, unit), "", nil; s.Text != "" && s.Time == 0 {
			out = append(out, s)
		}
		return out
	}
	return out
}

// cutQuote returns a quote within limit.
func cutQuote(b Block, limit int, size func([]Block) int, unit Unit) Block {
	if size([]Block{b}) <= limit {
		return b
	}
	around := size([]Block{{Kind: Quote, Inner: []Block{Para("x")}}}) - 1
	return Block{Kind: Quote, Inner: []Block{Para(Cut(Line(PlainText(b.Inner)), limit-around, unit))}}
}

// Divide splits a list into lists of one item, and a quote into quotes of one
// block. It returns any other block unchanged.
func Divide(b Block) []Block {
	var out []Block
	for n, item := range b.Items {
		one := Block{Kind: List, Items: [][]Block{item}}
		if b.Start > 0 {
			one.Start = b.Start + n
		}
		out = append(out, one)
	}
	for _, inner := range b.Inner {
		out = append(out, Block{Kind: Quote, Inner: []Block{inner}})
	}
	if len(out) == 0 {
		return []Block{b}
	}
	return out
}

// Append adds a block to a document. A list that continues the last block is
// merged with it.
func Append(doc []Block, b Block) []Block {
	if n := len(doc) - 1; n >= 0 && b.Kind == List && doc[n].Kind == List &&
		(b.Start == 0 && doc[n].Start == 0 || doc[n].Start > 0 && doc[n].Start+len(doc[n].Items) == b.Start) {
		last := doc[n]
		last.Items = append(last.Items[:len(last.Items):len(last.Items)], b.Items...)
		return append(doc[:n:n], last)
	}
	return append(doc, b)
}

// Flat returns a document as one block without markup: code if it has code, and
// otherwise a paragraph.
func Flat(doc []Block, text string) Block {
	for _, b := range doc {
		if b.Kind == Code {
			return Block{Kind: Code, Text: text}
		}
	}
	return Para(text)
}
