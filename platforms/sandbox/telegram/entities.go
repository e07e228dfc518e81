package telegram

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func lengthUTF16(s string) int { return len(utf16.Encode([]rune(s))) }

// cutUTF16 returns a part of a text that is given in UTF-16 units.
func cutUTF16(s string, offset, length int) string {
	units := utf16.Encode([]rune(s))
	return string(utf16.Decode(units[offset : offset+length]))
}

// checkEntities checks that entities lie within the text, in UTF-16 units.
func checkEntities(text string, entities []any) *failure {
	length := lengthUTF16(text)
	if len(entities) > maxEntities {
		return badRequest("too many entities") // the real server drops entities above the limit
	}
	for _, e := range raw.All(entities) {
		offset, size := raw.Int(e["offset"]), raw.Int(e["length"])
		if offset < 0 || size < 1 || offset+size > length {
			return badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d",
				offset, offset+size)
		}
		switch kind := raw.Str(e, "type"); kind {
		case "bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "blockquote",
			"expandable_blockquote", "custom_emoji", "mention", "url", "text_mention", "bot_command":
		case "text_link":
			if u := raw.Str(e, "url"); !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") &&
				!strings.HasPrefix(u, "tg://") {
				return badRequest("text link URL is invalid")
			}
		default:
			return badRequest("unsupported entity type %q", kind)
		}
	}
	return nil
}

var (
	tag  = regexp.MustCompile(`<(/?)([a-zA-Z-]*)([^>]*)>`)
	href = regexp.MustCompile(`href="([^"]*)"`)
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
	url    string
}

// parseHTML reads parse_mode HTML. Any other tag refuses the message.
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
			r.open(name, s[m[6]:m[7]])
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

func (r *htmlReader) open(name, attributes string) {
	t := openTag{name: name, offset: lengthUTF16(r.out.String())}
	if h := href.FindStringSubmatch(attributes); h != nil {
		t.url = html.UnescapeString(h[1])
	}
	r.stack = append(r.stack, t)
}

// close ends the innermost tag, and reports whether it has the name.
func (r *htmlReader) close(name, kind string) bool {
	if len(r.stack) == 0 || r.stack[len(r.stack)-1].name != name {
		return false
	}
	t := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	if n := lengthUTF16(r.out.String()) - t.offset; n > 0 {
		e := raw.Object{"type": kind, "offset": t.offset, "length": n}
		if kind == "text_link" {
			e["url"] = t.url
		}
		r.entities = append(r.entities, e)
	}
	return true
}
