package redact

import (
	"regexp"
	"strings"
)

// quotes are the quoted parts of a text, from the opening to the closing
// quote. It is empty where a shell may see the quotes in another way than this
// simple reading does: then a value ends at the first white space, so that no
// word of a command is taken for a part of it.
type quotes map[int]int

// intricate matches syntax that makes quotes hard to pair: escapes, substitutions,
// here-documents, comments, ANSI-C quotes, and quotes that touch.
var intricate = regexp.MustCompile("\\\\|`|\\$\\(|\\$\\{|\\$['\"]|<<|(?:^|\\s)#|''|\"\"|'\"|\"'")

// quotesOf reads the quotes of a text, and those inside of quotes.
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

// touching leaves out quotes that touch as they do in JSON, such as '{"a":"b"}'
// and "", which is empty.
func touching(s string) string {
	return strings.NewReplacer(`{"`, `{`, `"}`, `}`, `["`, `[`, `"]`, `]`, `":"`, `:`, `","`, `,`, `: ""`, `:`, `:"",`, `:,`, `=''`, `=`, `=""`, `=`).Replace(s)
}

// read notes the quotes of one line, and reports whether all of them close.
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

// closing returns where the quote that opens at a position closes; -1 if it
// does not open there for certain.
func (q quotes) closing(at int) int {
	if end, ok := q[at]; ok {
		return end
	}
	return -1
}

// evenBefore reports whether a quote in an escaped spelling opens: those before
// it on its line are pairs.
func evenBefore(s string, at int, spelling string) bool {
	line := s[strings.LastIndexByte(s[:at], '\n')+1 : at]
	return strings.Count(line, spelling)%2 == 0
}
