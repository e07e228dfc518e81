package telegram

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// markdownReader reads parse_mode MarkdownV2.
type markdownReader struct {
	src      []rune
	at       int
	out      strings.Builder
	entities []any
	stack    []openMark
}

// openMark is an entity that is still open.
type openMark struct {
	sign, kind string
	offset     int
}

// signs are the marks of entities, longer ones first.
var signs = []openMark{
	{sign: "||", kind: "spoiler"}, {sign: "__", kind: "underline"}, {sign: "*", kind: "bold"}, {sign: "_", kind: "italic"},
	{sign: "~", kind: "strikethrough"}, {sign: "[", kind: "text_link"}, {sign: "![", kind: "custom_emoji"},
}

// reserved are the characters that need a backslash outside entities.
const reserved = "_*[]()~`>#+-=|{}.!"

// parseMarkdown reads parse_mode MarkdownV2 into text and entities.
func parseMarkdown(s string) (string, []any, *failure) {
	r := markdownReader{src: []rune(s)}
	for r.at < len(r.src) {
		if bad := r.step(); bad != nil {
			return "", nil, bad
		}
	}
	r.endQuote()
	if n := len(r.stack); n > 0 {
		return "", nil, r.wrong("Can't find end of the entity starting at byte offset %d", r.stack[n-1].offset)
	}
	slices.SortStableFunc(r.entities, func(a, b any) int {
		x, _ := a.(raw.Object)
		y, _ := b.(raw.Object)
		return raw.Int(x["offset"]) - raw.Int(y["offset"])
	})
	return r.out.String(), r.entities, nil
}

func (r *markdownReader) wrong(format string, args ...any) *failure {
	bad := badRequest(format, args...)
	bad.description = strings.Replace(bad.description, "Bad Request: ", "Bad Request: can't parse entities: ", 1)
	return bad
}

func (r *markdownReader) has(sign string) bool {
	return strings.HasPrefix(string(r.src[r.at:min(len(r.src), r.at+len(sign))]), sign)
}

func (r *markdownReader) offset() int { return lengthUTF16(r.out.String()) }

// step reads a character, an escape or a mark.
func (r *markdownReader) step() *failure {
	c := r.src[r.at]
	lineStart := r.at == 0 || r.src[r.at-1] == '\n'
	switch {
	case c == '\\' && r.at+1 < len(r.src) && r.src[r.at+1] < 127:
		r.out.WriteRune(r.src[r.at+1])
		r.at += 2
		return nil
	case c == '`':
		return r.code()
	case lineStart && (c == '>' || r.has("**>")):
		r.openQuote()
		return nil
	case c == '\n':
		r.newLine()
		return nil
	case c == ']':
		return r.link()
	}
	for _, m := range signs {
		if r.has(m.sign) {
			r.toggle(m)
			return nil
		}
	}
	if strings.ContainsRune(reserved, c) {
		return r.wrong("Character '%c' is reserved and must be escaped with the preceding '\\'", c)
	}
	r.out.WriteRune(c)
	r.at++
	return nil
}

// newLine ends a line, and the quote of which it is the last one.
func (r *markdownReader) newLine() {
	if r.at+1 == len(r.src) || r.src[r.at+1] != '>' {
		r.endQuote()
	}
	r.out.WriteRune('\n')
	r.at++
}

// toggle opens an entity, or closes the innermost one of the same mark.
func (r *markdownReader) toggle(m openMark) {
	r.at += len(m.sign)
	if n := len(r.stack); n > 0 && r.stack[n-1].sign == m.sign && m.kind != "text_link" {
		r.close(raw.Object{"type": m.kind})
		return
	}
	m.offset = r.offset()
	r.stack = append(r.stack, m)
}

// close ends the innermost entity.
func (r *markdownReader) close(e raw.Object) {
	from := r.stack[len(r.stack)-1].offset
	r.stack = r.stack[:len(r.stack)-1]
	if length := r.offset() - from; length > 0 {
		e["offset"], e["length"] = float64(from), float64(length)
		r.entities = append(r.entities, e)
	}
}

// openQuote starts a quote, unless a line before belongs to the same one.
func (r *markdownReader) openQuote() {
	r.at = r.at + strings.IndexRune(string(r.src[r.at:]), '>') + 1
	if n := len(r.stack); n == 0 || r.stack[n-1].kind != "blockquote" {
		r.stack = append(r.stack, openMark{">", "blockquote", r.offset()})
	}
}

// endQuote ends a quote. If its last line ends with ||, it is expandable.
func (r *markdownReader) endQuote() {
	kind := "blockquote"
	if n := len(r.stack); n > 1 && r.stack[n-1].kind == "spoiler" && r.stack[n-2].kind == "blockquote" &&
		r.stack[n-1].offset == r.offset() {
		r.stack, kind = r.stack[:n-1], "expandable_blockquote"
	}
	if n := len(r.stack); n > 0 && r.stack[n-1].kind == "blockquote" {
		r.close(raw.Object{"type": kind})
	}
}

// code reads code, or a block of code with its language.
func (r *markdownReader) code() *failure {
	sign, e := "`", raw.Object{"type": "code"}
	if r.has("```") {
		sign, e = "```", raw.Object{"type": "pre"}
	}
	r.at += len(sign)
	r.stack = append(r.stack, openMark{sign, "code", r.offset()})
	if sign == "```" {
		line, _, multi := strings.Cut(string(r.src[r.at:]), "\n")
		if multi && !strings.ContainsAny(line, " `") {
			r.at += len([]rune(line)) + 1
			if line != "" {
				e["language"] = line
			}
		}
	}
	for ; r.at < len(r.src); r.at++ {
		if r.has(sign) {
			r.at += len(sign)
			r.close(e)
			return nil
		}
		if r.src[r.at] == '\\' && r.at+1 < len(r.src) {
			r.at++
		}
		r.out.WriteRune(r.src[r.at])
	}
	return r.wrong("Can't find end of the entity starting at byte offset %d", r.stack[len(r.stack)-1].offset)
}

// link ends the text of a link, and reads its address.
func (r *markdownReader) link() *failure {
	n := len(r.stack)
	if n == 0 || r.stack[n-1].kind != "text_link" && r.stack[n-1].kind != "custom_emoji" {
		return r.wrong("Character ']' is reserved and must be escaped with the preceding '\\'")
	}
	kind := r.stack[n-1].kind
	r.at++
	var address strings.Builder
	if !r.has("(") {
		r.stack = r.stack[:n-1] // a text without an address links nowhere
		return nil
	}
	for r.at++; r.at < len(r.src) && r.src[r.at] != ')'; r.at++ {
		if r.src[r.at] == '\\' && r.at+1 < len(r.src) {
			r.at++
		}
		address.WriteRune(r.src[r.at])
	}
	if r.at == len(r.src) {
		return r.wrong("Can't find end of a URL at byte offset %d", r.at)
	}
	r.at++
	e := raw.Object{"type": kind, "url": address.String()}
	if id, isUser := strings.CutPrefix(address.String(), "tg://user?id="); isUser {
		e = raw.Object{"type": "text_mention", "user": raw.Object{"id": float64(number(id))}}
	}
	if id, isEmoji := strings.CutPrefix(address.String(), "tg://emoji?id="); isEmoji && kind == "custom_emoji" {
		e = raw.Object{"type": kind, "custom_emoji_id": id}
		if _, err := strconv.ParseInt(id, 10, 64); err != nil {
			return r.wrong("Invalid custom emoji identifier specified")
		}
	}
	r.close(e)
	return nil
}
