package render

import (
	"strconv"
	"strings"
)

// PlainText renders a document as text without markup, for files, terminals and
// notifications.
func PlainText(doc []Block) string {
	var b strings.Builder
	writePlain(&b, doc, "")
	return strings.TrimRight(b.String(), "\n")
}

func writePlain(b *strings.Builder, doc []Block, indent string) {
	for n, blk := range doc {
		if n > 0 && (blk.Kind != List || doc[n-1].Kind != Paragraph) {
			b.WriteString("\n")
		}
		switch blk.Kind {
		case Paragraph, Heading:
			var s strings.Builder
			for _, span := range blk.Spans {
				s.WriteString(span.Text)
			}
			writeIndented(b, s.String(), indent)
		case Code:
			writeIndented(b, blk.Text, indent+"    ")
		case Quote:
			writePlain(b, blk.Inner, indent+"> ")
		case Rule:
			b.WriteString(indent + "---\n")
		case List:
			for k, item := range blk.Items {
				mark := "- "
				if blk.Start > 0 {
					mark = strconv.Itoa(blk.Start+k) + ". "
				}
				var s strings.Builder
				writePlain(&s, item, "")
				text := strings.TrimRight(s.String(), "\n")
				pad := strings.Repeat(" ", len(mark))
				for l, line := range strings.Split(text, "\n") {
					if l == 0 {
						b.WriteString(indent + mark + line + "\n")
					} else {
						b.WriteString(indent + pad + line + "\n")
					}
				}
			}
		}
	}
}

func writeIndented(b *strings.Builder, s, indent string) {
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(indent + line + "\n")
	}
}

// FullText returns the complete text of a card. It changes only when
// [bridge.View.Content] does.
func (c Card) FullText() string {
	s := c.From + "\n\n" + c.HeadText()
	if len(c.Body) > 0 {
		s += "\n\n" + PlainText(c.Body)
	}
	if len(c.Questions) > 0 {
		s += "\n\n" + PlainText(c.Questions)
	}
	return s + "\n"
}
