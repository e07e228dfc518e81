package telegram

import (
	"html"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var (
	tag       = lazyregexp.New(`<(/?)([a-zA-Z-]*)([^>]*)>`)
	attribute = lazyregexp.New(`([a-z-]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?`)
)

var tags = map[string]string{
	"b":          "bold",
	"strong":     "bold",
	"i":          "italic",
	"em":         "italic",
	"u":          "underline",
	"ins":        "underline",
	"s":          "strikethrough",
	"strike":     "strikethrough",
	"del":        "strikethrough",
	"code":       "code",
	"pre":        "pre",
	"a":          "text_link",
	"blockquote": "blockquote",
	"tg-spoiler": "spoiler",
	"span":       "spoiler",
	"tg-emoji":   "custom_emoji",
	"tg-time":    "date_time",
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
	has    map[string]string // attributes
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
		closing, has := s[m[2]:m[3]] != "", attributes(s[m[6]:m[7]])
		kind, known := tags[name]
		if !known || name == "span" && !closing && has["class"] != "tg-spoiler" {
			return "", nil, badRequest("can't parse entities: Unsupported start tag %q at byte offset %d", name, m[0])
		}
		if !closing {
			r.stack = append(r.stack, openTag{name, lengthUTF16(r.out.String()), has})
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

// attributes returns the attributes of a tag.
func attributes(s string) map[string]string {
	out := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(s, -1) {
		out[m[1]] = html.UnescapeString(m[2] + m[3] + m[4])
	}
	return out
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
	language, _ := strings.CutPrefix(t.has["class"], "language-")
	if name == "code" && language != "" && len(r.stack) > 0 && r.stack[len(r.stack)-1].name == "pre" {
		r.stack[len(r.stack)-1].has["language"] = language // <pre><code class="language-x"> is one entity
		return true
	}
	e := raw.Object{"type": kind, "offset": float64(t.offset), "length": float64(length)}
	t.describe(e, kind)
	r.entities = append(r.entities, e)
	return true
}

// describe sets the fields of an entity from attributes.
func (t openTag) describe(e raw.Object, kind string) {
	_, expandable := t.has["expandable"]
	switch {
	case kind == "text_link":
		if id, isUser := strings.CutPrefix(t.has["href"], "tg://user?id="); isUser {
			e["type"], e["user"] = "text_mention", raw.Object{"id": float64(number(id))}
			return
		}
		e["url"] = t.has["href"]
	case kind == "blockquote" && expandable:
		e["type"] = "expandable_blockquote"
	case kind == "pre" && t.has["language"] != "":
		e["language"] = t.has["language"]
	case kind == "custom_emoji":
		e["custom_emoji_id"] = t.has["emoji-id"]
	case kind == "date_time":
		seconds, err := strconv.ParseInt(t.has["unix"], 10, 64)
		if err != nil {
			return // checkEntities refuses it
		}
		e["unix_time"], e["date_time_format"] = float64(seconds), t.has["format"]
	}
}
