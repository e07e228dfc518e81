package telegram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Telegram detects addresses, links, mentions and commands in any text. The
// patterns follow TDLib, github.com/tdlib/td, td/telegram/MessageEntity.cpp.
// The conditions on adjacent characters are in detected, because RE2 has no
// lookaround.
var detectable = []struct {
	kind    string
	pattern *lazyregexp.Regexp
}{
	{"email", lazyregexp.New(`(?i)(?:[a-z0-9_-]{0,26}[.:+]){0,10}[a-z0-9_-]{1,35}@` +
		`(?:[a-z0-9](?:[a-z0-9_-]{0,28}[a-z0-9])?\.){1,6}[a-z]{2,6}`)},
	{"url", lazyregexp.New(`(?i)(?:https?://|www\.)[^\s<>"]+|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|dev|io|me|net|org)(?:/[^\s<>"]*)?`)},
	{"mention", lazyregexp.New(`@[a-zA-Z0-9_]{2,32}`)},
	{"bot_command", lazyregexp.New(`/[a-zA-Z0-9_]{1,64}(?:@[a-zA-Z0-9_]{3,32})?`)},
}

// detected returns the entities of a text in order: its own, and those that
// Telegram detects outside of them.
func detected(text string, entities []any) []any {
	taken := make([]bool, lengthUTF16(text))
	for _, e := range raw.All(entities) {
		if kind := raw.Str(e, "type"); kind == "code" || kind == "pre" || kind == "text_link" || kind == "text_mention" {
			mark(taken, raw.Int(e["offset"]), raw.Int(e["length"]))
		}
	}
	out := slices.Clone(entities)
	for _, d := range detectable {
		for _, hit := range d.pattern.FindAllStringIndex(text, -1) {
			if d.kind == "url" {
				hit[1] = hit[0] + endOfURL(text[hit[0]:hit[1]])
			}
			offset, length := lengthUTF16(text[:hit[0]]), lengthUTF16(text[hit[0]:hit[1]])
			if slices.Contains(taken[offset:offset+length], true) || joined(d.kind, text, hit[0], hit[1]) {
				continue
			}
			mark(taken, offset, length)
			out = append(out, raw.Object{"type": d.kind, "offset": offset, "length": length})
		}
	}
	slices.SortStableFunc(out, func(a, b any) int {
		x, _ := a.(raw.Object)
		y, _ := b.(raw.Object)
		return cmp.Compare(raw.Int(x["offset"]), raw.Int(y["offset"]))
	})
	return out
}

// endOfURL returns the length of a link without trailing punctuation and
// without a closing bracket that the link did not open.
func endOfURL(link string) int {
	const opening, closing = "([{", ")]}"
	var open []int
	end := len(link)
	for at, r := range link {
		if kind := strings.IndexRune(opening, r); kind >= 0 {
			open = append(open, kind)
		}
		if kind := strings.IndexRune(closing, r); kind >= 0 {
			if len(open) == 0 || open[len(open)-1] != kind {
				end = at
				break
			}
			open = open[:len(open)-1]
		}
	}
	return len(strings.TrimRight(link[:end], ".:;,('?!`"))
}

func mark(taken []bool, offset, length int) {
	for n := max(0, offset); n < min(offset+length, len(taken)); n++ {
		taken[n] = true
	}
}

// joined reports whether the adjacent characters of a match prevent an entity.
func joined(kind, text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	switch kind {
	case "url", "email":
		return from > 0 && (before == '@' || isWord(before))
	case "bot_command":
		return from > 0 && (isWord(before) || strings.ContainsRune("/<>", before)) ||
			to < len(text) && (isWord(after) || strings.ContainsRune("/<>", after))
	}
	return from > 0 && isWord(before) || to < len(text) && isWord(after)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// note sets the entities of a message and their effects: the users that the
// message mentions by name, and the page that it previews.
func note(m raw.Object, textKey string, entities []any, preview bool) {
	text, key := raw.Str(m, textKey), entitiesKey(textKey)
	for _, k := range []string{key, "detected_mentions", "preview"} {
		delete(m, k)
	}
	if entities = detected(text, entities); len(entities) == 0 {
		return
	}
	m[key] = entities
	var names []any
	for _, e := range raw.All(entities) {
		shown := cutUTF16(text, raw.Int(e["offset"]), raw.Int(e["length"]))
		switch raw.Str(e, "type") {
		case "mention":
			names = append(names, strings.TrimPrefix(shown, "@"))
		case "url", "text_link":
			if page := cmp.Or(raw.Str(e, "url"), shown); preview && m["preview"] == nil && !strings.HasPrefix(page, "tg:") {
				m["preview"] = page
			}
		}
	}
	if len(names) > 0 {
		m["detected_mentions"] = names
	}
}
