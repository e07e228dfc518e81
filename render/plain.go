package render

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// PlainText renders a document as text without markup, for files, terminals and
// notifications.
func PlainText(doc []Block) string {
	if len(doc) == 1 && doc[0].Kind == Paragraph && len(doc[0].Spans) == 1 {
		return strings.TrimRight(doc[0].Spans[0].Text, "\n")
	}
	var s string
	withPlain(doc, func(text []byte) { s = string(text) })
	return s
}

// PlainLen returns the length of [PlainText] in bytes.
func PlainLen(doc []Block) int {
	n := 0
	withPlain(doc, func(text []byte) { n = len(text) })
	return n
}

// withPlain calls use with the text of a document, which is valid during the
// call.
func withPlain(doc []Block, use func(text []byte)) {
	room := plainRoom.Get().(*[]byte)
	text := appendPlain((*room)[:0], doc, "")
	use(bytes.TrimRight(text, "\n"))
	if cap(text) <= maxPlainRoom {
		*room = text
		plainRoom.Put(room)
	}
}

// plainRoom keeps memory for texts, of maxPlainRoom bytes at most.
var plainRoom = sync.Pool{New: func() any { return new([]byte) }}

const maxPlainRoom = 64 << 10

func appendPlain(b []byte, doc []Block, indent string) []byte {
	for n, blk := range doc {
		if n > 0 && (blk.Kind != List || doc[n-1].Kind != Paragraph) {
			b = append(b, '\n')
		}
		switch blk.Kind {
		case Paragraph, Heading:
			b = append(b, indent...)
			for _, span := range blk.Spans {
				b = appendIndented(b, span.Text, indent)
			}
			b = append(b, '\n')
		case Code:
			inner := indent + "    "
			b = append(appendIndented(append(b, inner...), blk.Text, inner), '\n')
		case Quote:
			b = appendPlain(b, blk.Inner, indent+"> ")
		case Rule:
			b = append(append(b, indent...), "---\n"...)
		case List:
			b = appendItems(b, blk, indent)
		}
	}
	return b
}

// appendIndented appends a text, with the indent after each newline.
func appendIndented(b []byte, s, indent string) []byte {
	if indent == "" {
		return append(b, s...)
	}
	for n := strings.IndexByte(s, '\n'); n >= 0; n = strings.IndexByte(s, '\n') {
		b = append(append(b, s[:n+1]...), indent...)
		s = s[n+1:]
	}
	return append(b, s...)
}

func appendItems(b []byte, list Block, indent string) []byte {
	for n, item := range list.Items {
		b = append(b, indent...)
		width := len(b)
		if list.Start > 0 {
			b = append(strconv.AppendInt(b, int64(list.Start+n), 10), ". "...)
		} else {
			b = append(b, "- "...)
		}
		width = len(b) - width
		text := len(b)
		b = appendPlain(b, item, "")
		for len(b) > text && b[len(b)-1] == '\n' {
			b = b[:len(b)-1]
		}
		b = append(indentLines(b, text, indent, width), '\n')
	}
	return b
}

// indentLines inserts an indent and some blanks after each newline that follows a
// position.
func indentLines(b []byte, from int, indent string, blanks int) []byte {
	n := bytes.Count(b[from:], []byte{'\n'})
	if n == 0 {
		return b
	}
	more := len(indent) + blanks
	end := len(b)
	b = slices.Grow(b, n*more)[:end+n*more]
	for to := len(b); to > end; end-- {
		if b[end-1] == '\n' {
			to -= blanks
			for k := range blanks {
				b[to+k] = ' '
			}
			to -= len(indent)
			copy(b[to:], indent)
		}
		to--
		b[to] = b[end-1]
	}
	return b
}

// FullText returns the complete text of a card, which is delivered in full. It
// changes only when [bridge.View.Content] does.
func (c Card) FullText() string {
	if c.Full != nil {
		return c.From + "\n\n" + PlainText(c.Full) + "\n"
	}
	s := c.From + "\n\n" + c.HeadText()
	if len(c.Body) > 0 {
		s += "\n\n" + PlainText(c.Body)
	}
	if len(c.Questions) > 0 {
		s += "\n\n" + PlainText(c.Questions)
	}
	return s + "\n"
}
