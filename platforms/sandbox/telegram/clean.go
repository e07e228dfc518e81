package telegram

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// dropped holds the characters that the server removes from texts: line and
// paragraph separators, directional formats, and three combining marks.
const dropped = "\r\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u0333\u033f\u030a"

// directions matches consecutive direction marks.
var directions = lazyregexp.New(`[\x{200e}\x{200f}]{2,}`)

// clean changes a text like the server: control characters, including tabs,
// become spaces, some characters disappear, and only the last of consecutive
// direction marks stays. It moves the entities accordingly. Source:
// clean_input_string_with_entities and replace_offending_characters in
// github.com/tdlib/td, td/telegram.
func clean(text string, entities []any) (string, []any) {
	var b strings.Builder
	var before []int // number of removed characters before each UTF-16 unit
	gone := 0
	for _, r := range text {
		for range lengthUTF16(string(r)) {
			before = append(before, gone)
		}
		switch {
		case strings.ContainsRune(dropped, r):
			gone++
		case r < ' ' && r != '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	before = append(before, gone)
	for _, e := range raw.All(entities) {
		from := raw.Int(e["offset"])
		to := from + raw.Int(e["length"])
		from, to = from-before[from], to-before[to]
		e["offset"], e["length"] = float64(from), float64(to-from)
	}
	return directions.ReplaceAllStringFunc(b.String(), func(run string) string {
		marks := []rune(run)
		return strings.Repeat("\u200c", len(marks)-1) + string(marks[len(marks)-1])
	}), entities
}

// unseen holds the characters that do not make a visible text:
// strip_empty_characters in td/telegram/misc.cpp.
const unseen = " \n\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e" +
	"\u200f\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc"

// blank reports whether a text is invisible.
func blank(text string) bool { return strings.Trim(text, unseen) == "" }
