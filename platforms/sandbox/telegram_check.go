package sandbox

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"unicode/utf16"
)

// telegramMarkup reads and checks reply_markup.
func telegramMarkup(a telegramArgs) (object, *telegramFailure) {
	var markup object
	if err := a.structure("reply_markup", &markup); err != nil {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	if markup == nil {
		return nil, nil
	}
	if placeholder := str(markup, "input_field_placeholder"); runes(placeholder) > 64 {
		return nil, badRequest("reply markup placeholder is too long")
	}
	rows, inline := markup["inline_keyboard"].([]any)
	if !inline {
		return markup, nil
	}
	total := 0
	for _, r := range rows {
		row, ok := r.([]any)
		if !ok {
			return nil, badRequest("inline keyboard rows must be arrays")
		}
		if len(row) > 8 {
			return nil, badRequest("reply markup is too long")
		}
		for _, v := range row {
			b, _ := v.(object)
			total++
			if str(b, "text") == "" {
				return nil, badRequest("inline keyboard button text is empty")
			}
			data, pressable := b["callback_data"].(string)
			if pressable && (len(data) < 1 || len(data) > 64) {
				return nil, badRequest("BUTTON_DATA_INVALID")
			}
			if !pressable && b["url"] == nil && b["disabled"] == nil && b["copy_text"] == nil {
				return nil, badRequest("inline keyboard button must have exactly one optional field")
			}
			switch b["style"] {
			case nil, "primary", "success", "danger", "default":
			default:
				return nil, badRequest("invalid button style specified")
			}
		}
	}
	raw, err := json.Marshal(markup)
	if err != nil || total > 100 || len(raw) > 10_000 {
		return nil, badRequest("reply markup is too long")
	}
	return markup, nil
}

// checkTelegramEntities checks that entities lie within the text, in UTF-16
// units.
func checkTelegramEntities(text string, entities []any) *telegramFailure {
	length := len(utf16.Encode([]rune(text)))
	if len(entities) > 100 {
		return badRequest("too many entities") // the real server drops what is over 100
	}
	for _, v := range entities {
		e, _ := v.(object)
		offset, size := intOf(e["offset"]), intOf(e["length"])
		if offset < 0 || size < 1 || offset+size > length {
			return badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", offset, offset+size)
		}
		switch kind := str(e, "type"); kind {
		case "bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "blockquote", "expandable_blockquote", "custom_emoji", "mention", "url", "text_mention":
		case "text_link":
			if u := str(e, "url"); !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "tg://") {
				return badRequest("text link URL is invalid")
			}
		default:
			return badRequest("unsupported entity type %q", kind)
		}
	}
	return nil
}

var (
	telegramTag  = regexp.MustCompile(`<(/?)([a-zA-Z-]*)([^>]*)>`)
	telegramHref = regexp.MustCompile(`href="([^"]*)"`)
)

var telegramTags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline", "s": "strikethrough",
	"strike": "strikethrough", "del": "strikethrough", "code": "code", "pre": "pre", "a": "text_link", "blockquote": "blockquote", "tg-spoiler": "spoiler",
}

// parseTelegramHTML reads parse_mode HTML. Any other tag refuses the message.
func parseTelegramHTML(s string) (string, []any, *telegramFailure) {
	var out strings.Builder
	var entities []any
	type opened struct {
		tag    string
		offset int
		url    string
	}
	var stack []opened
	length := func() int { return len(utf16.Encode([]rune(out.String()))) }
	at := 0
	for _, m := range telegramTag.FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(html.UnescapeString(s[at:m[0]]))
		at = m[1]
		tag := strings.ToLower(s[m[4]:m[5]])
		kind, known := telegramTags[tag]
		if !known {
			return "", nil, badRequest("can't parse entities: Unsupported start tag %q at byte offset %d", tag, m[0])
		}
		if s[m[2]:m[3]] == "" {
			o := opened{tag: tag, offset: length()}
			if h := telegramHref.FindStringSubmatch(s[m[6]:m[7]]); h != nil {
				o.url = html.UnescapeString(h[1])
			}
			stack = append(stack, o)
			continue
		}
		if len(stack) == 0 || stack[len(stack)-1].tag != tag {
			return "", nil, badRequest("can't parse entities: Unexpected end tag at byte offset %d", m[0])
		}
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n := length() - o.offset; n > 0 {
			e := object{"type": kind, "offset": o.offset, "length": n}
			if kind == "text_link" {
				e["url"] = o.url
			}
			entities = append(entities, e)
		}
	}
	if len(stack) > 0 {
		return "", nil, badRequest("can't parse entities: Can't find end tag corresponding to start tag %q", stack[len(stack)-1].tag)
	}
	rest := s[at:]
	if strings.Contains(rest, "<") {
		return "", nil, badRequest("can't parse entities: Unexpected character")
	}
	out.WriteString(html.UnescapeString(rest))
	return out.String(), entities, nil
}
