package slackmsg

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
)

// hostileParts are parts of texts whose JSON is longer than they are.
var hostileParts = []string{"a", "word ", "\"", "\\", "\n", "\t", "\r", "\b", "\f", "\x00", "\x7f", "<", ">", "&", "é", "日", "😀", "\u2028", "\u2029", "\xff", "\ufffd", "@", "1"}

func drawDoc(t *rapid.T, depth int) []render.Block {
	text := func() string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostileParts), 0, 8).Draw(t, "text"), "")
	}
	var doc []render.Block
	for range rapid.IntRange(0, 3).Draw(t, "blocks") {
		b := render.Block{Kind: render.BlockKind(rapid.IntRange(0, 5).Draw(t, "kind"))}
		switch b.Kind {
		case render.Paragraph, render.Heading:
			for range rapid.IntRange(0, 3).Draw(t, "spans") {
				on := rapid.IntRange(0, 63).Draw(t, "style")
				s := render.Span{Text: text(), Bold: on&1 > 0, Italic: on&2 > 0, Strike: on&4 > 0, Code: on&8 > 0, Exact: on&16 > 0}
				switch on >> 4 {
				case 1:
					s.URL = "https://a.example/?" + text()
				case 2, 3:
					s.Time = rapid.Int64().Draw(t, "time")
				}
				b.Spans = append(b.Spans, s)
			}
		case render.Code:
			b.Text = text()
		case render.Quote, render.List:
			b.Start = rapid.IntRange(0, 12).Draw(t, "start")
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				var item []render.Block
				if depth > 0 {
					item = drawDoc(t, depth-1)
				}
				if b.Items = append(b.Items, item); b.Kind == render.Quote {
					b.Items, b.Inner = nil, append(b.Inner, item...)
				}
			}
		}
		doc = append(doc, b)
	}
	return doc
}

// TestBounds checks that the bounds are never below the size.
func TestBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDoc(t, 3)
		size := measure([]slack.Block{richText("", doc)})
		if n := docBound(doc); n < size {
			t.Fatalf("the bound of the document is %d, its size %d: %+v", n, size, doc)
		}
		if b, ok := boundOf([]slack.Block{richText("id", doc)}); !ok || b.size < measure([]slack.Block{richText("id", doc)}) {
			t.Fatalf("the bound of the block is %d, its size %d: %+v", b.size, size, doc)
		}
		if s := doc; len(s) > 0 && maxCost*render.PlainLen(s) < cost(render.PlainText(s)) {
			t.Fatalf("%q costs more than %d for each byte", render.PlainText(s), maxCost)
		}
	})
}

// TestSizeOf checks, on the cards of all samples, that the size is the measured
// one, or a bound above it with room for all labels.
func TestSizeOf(t *testing.T) {
	t.Parallel()
	known := 0
	for _, s := range rendertest.Samples() {
		m, err := Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		labeled := measure(m.Blocks)
		for _, b := range m.Blocks {
			if row, ok := b.(*slack.ActionBlock); ok {
				for _, e := range row.Elements.ElementSet {
					if button, ok := e.(*slack.ButtonBlockElement); ok {
						button.AccessibilityLabel = ""
					}
				}
			}
		}
		exact, size := measure(m.Blocks), sizeOf(m.Blocks)
		b, ok := boundOf(m.Blocks)
		if !ok {
			if size != exact {
				t.Errorf("%s: size %d, measured %d", s.Name, size, exact)
			}
			continue
		}
		known++
		if b.size < exact || b.size+b.labels < labeled || size < exact {
			t.Errorf("%s: size %d, bound %+v, measured %d and %d with labels", s.Name, size, b, exact, labeled)
		}
		if size != exact && size > 2*exact {
			t.Errorf("%s: the bound of %d is far above %d", s.Name, size, exact)
		}
	}
	if known < 20 {
		t.Errorf("only %d samples have a bound", known)
	}
}

// TestQuotedCost checks the cost of a text in JSON against the encoder's.
func TestQuotedCost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostileParts), 0, 30).Draw(t, "text"), "") + rapid.String().Draw(t, "more")
		around := measure([]slack.Block{richText("", []render.Block{{Kind: render.Code, Text: "x"}})}) - 1
		exact := measure([]slack.Block{richText("", []render.Block{{Kind: render.Code, Text: "x" + s}})}) - around - 1
		if n := quotedCost(s); n < exact || n > exact+5*strings.Count(s, "\ufffd") {
			t.Fatalf("%q: %d, encoded %d", s, n, exact)
		}
	})
}
