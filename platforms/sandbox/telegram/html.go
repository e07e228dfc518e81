package telegram

import (
	"html"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var (
	tag     = lazyregexp.New(`<(/?)([a-zA-Z-]*)([^>]*)>`)
	address = lazyregexp.New(`href=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
)

// tags maps the tags that common clients send to entities. Others are refused.
var tags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "s": "strikethrough",
	"code": "code", "pre": "pre", "a": "text_link", "blockquote": "blockquote",
}

// htmlReader reads parse_mode HTML into text and entities.
type htmlReader struct {
	out      strings.Builder
	entities []any
	stack    []openTag
}

type openTag struct {
	name   string
	offset int
	href   string
}

// parseHTML reads parse_mode HTML. It refuses a message with an unsupported
// tag.
func parseHTML(s string) (string, []any, *failure) {
	var r htmlReader
	at := 0
	for _, m := range tag.FindAllStringSubmatchIndex(s, -1) {
		r.out.WriteString(html.UnescapeString(s[at:m[0]]))
		at = m[1]
		name := strings.ToLower(s[m[4]:m[5]])
		kind, known := tags[name]
		if !known {
			return "", nil, badRequest("can't parse entities: Unsupported start tag %q at byte offset %d", name, m[0])
		}
		if s[m[2]:m[3]] == "" {
			r.stack = append(r.stack, openTag{name, lengthUTF16(r.out.String()), href(s[m[6]:m[7]])})
		} else if !r.close(name, kind) {
			return "", nil, badRequest("can't parse entities: Unexpected end tag at byte offset %d", m[0])
		}
	}
	if n := len(r.stack); n > 0 {
		return "", nil, badRequest("can't parse entities: Can't find end tag corresponding to start tag %q",
			r.stack[n-1].name)
	}
	if strings.Contains(s[at:], "<") {
		return "", nil, badRequest("can't parse entities: Unexpected character")
	}
	r.out.WriteString(html.UnescapeString(s[at:]))
	return r.out.String(), r.entities, nil
}

// href returns the address in the attributes of a tag.
func href(attributes string) string {
	m := address.FindStringSubmatch(attributes)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1] + m[2] + m[3])
}

// close ends the innermost tag, and reports whether that tag has the name.
func (r *htmlReader) close(name, kind string) bool {
	if len(r.stack) == 0 || r.stack[len(r.stack)-1].name != name {
		return false
	}
	t := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	length := lengthUTF16(r.out.String()) - t.offset
	if length == 0 {
		return true
	}
	e := raw.Object{"type": kind, "offset": float64(t.offset), "length": float64(length)}
	if id, isUser := strings.CutPrefix(t.href, "tg://user?id="); isUser {
		e["type"], e["user"] = "text_mention", raw.Object{"id": float64(number(id))}
	} else if kind == "text_link" {
		e["url"] = t.href
	}
	r.entities = append(r.entities, e)
	return true
}
