package redact

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// quotes maps the position of each opening quote in text to its closing quote.
// It is empty if a shell may pair the quotes differently. In that case, a value
// ends at the first white space, so that no word of a command is redacted as
// part of the value.
type quotes map[int]int

// intricate matches syntax that makes quotes difficult to pair: escapes,
// substitutions, here-documents, comments, ANSI-C quotes, and adjacent quotes.
var intricate = lazyregexp.New("\\\\|`|\\$\\(|\\$\\{|\\$['\"]|<<|(?:^|\\s)#|''|\"\"|'\"|\"'")

// quotesOf returns the quotes in text, including quotes within quotes.
func quotesOf(s string) quotes {
	if !strings.ContainsAny(s, `'"`) || intricate.MatchString(touching(s)) {
		return nil
	}
	q := quotes{}
	at := 0
	for line := range strings.Lines(s) {
		if !q.read(line, at, true) {
			return nil
		}
		at += len(line)
	}
	return q
}

// touching removes quotes that are adjacent in JSON, such as '{"a":"b"}', and
// the empty string "".
func touching(s string) string {
	return strings.NewReplacer(`{"`, `{`, `"}`, `}`, `["`, `[`, `"]`, `]`, `":"`, `:`, `","`, `,`, `: ""`, `:`, `:"",`, `:,`, `=''`, `=`, `=""`, `=`).Replace(s)
}

// read adds the quotes of one line, and reports whether all of them are closed.
func (q quotes) read(line string, at int, outer bool) bool {
	for n := 0; n < len(line); n++ {
		c := line[n]
		if c != '\'' && c != '"' {
			continue
		}
		length := strings.IndexByte(line[n+1:], c)
		if length < 0 {
			return false
		}
		inner := line[n+1 : n+1+length]
		q[at+n] = at + n + 1 + length
		if outer && !q.read(inner, at+n+1, false) {
			return false
		}
		n += 1 + length
	}
	return true
}

// closing returns the position of the quote that closes the quote at a
// position, or -1 if the position is uncertain.
func (q quotes) closing(at int) int {
	if end, ok := q[at]; ok {
		return end
	}
	return -1
}
