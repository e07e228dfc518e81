package redact

import (
	"strings"
	"unicode"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// names are the names of secrets, in any case and with any prefix.
const names = `password|passwd|passphrase|passwort|pwd|secret|api[_-]?key|apikey|access[_-]?key|account[_-]?key|private[_-]?key|secret[_-]?key(?:[_-]?base)?|signing[_-]?key|encryption[_-]?key|master[_-]?key|client[_-]?key[_-]?data|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|session[_-]?token|session[_-]?id|sessid|token|credentials?|requirepass|masterauth|storepass|keypass|bindpw|rootpw|connection[_-]?string|subscription[_-]?key|sshpass|jwt`

// shortNames are names of secrets only as a whole word, unlike in compass and
// author.
const shortNames = `pass|auth|psk|pw|otp|sid`

var (
	secretName = lazyregexp.New(`(?i)(?:(?:` + names + `|authorization|cookie)|(?:^|[_.-])(?:` + shortNames + `))$`)

	// naming finds a name, the end of its quotes or brackets, and the separator
	// and the opening quote before its value.
	naming = lazyregexp.New(`(?i)(?P<name>(?:` + names + `)|(?:\b|_)(?:` + shortNames + `))(?P<close>\\*["']|\\+u0022|%22|&quot;)?[\])]?(?P<sep>[ \t]*(?:=>|:=|==?|:)[ \t]*|%3[Dd]|%3[Aa])(?P<open>\\*["']|\\+u0022|%22|&quot;)?`)
	// beginsLine matches the text before a name in a line of a config file.
	beginsLine = lazyregexp.New(`^[ \t]*(?:- +)?[\w"'.$:/\[-]*$`)

	// escapedQuote matches a quote in an escaped spelling, in which the opening
	// and the closing quote are the same.
	escapedQuote = lazyregexp.New(`^(?:\\+["']|\\+u0022|%22|&quot;)$`)

	// flagged finds options whose value is the next word.
	flagged = lazyregexp.New(`(?i)(?:^|[\s"'\[(,;|&])--?(?P<name>[a-z0-9-]*?(?:` + names + `|(?:^|-|\b)(?:` + shortNames + `)))\d?(?P<mid>\\*["'],?)?(?P<gap>[ \t]+|=|,[ \t]*)(?P<open>\\*["'])?`)

	// ordinary matches values that describe a secret instead of being one.
	ordinary = lazyregexp.New(`(?i)^(?:true|false|yes|no|on|off|null|nil|none|undefined|required|optional|string|number|integer|boolean|bool|str|int|object|array|bytes|text|empty|missing|invalid|expired|unset|default|hidden|redacted|secret|password|passwd|token|tokens|key|auth|scheme|authentication|authorization|credentials|file|env|stdin|prompt|ask|basic|bearer|digest|api-?key|negotiate|hmac|value|here|\*+|x{3,}|\.{2,}|<.*|-+|[0-9]{1,3})$`)
)

// word is a sequence of characters without a special meaning in a shell. It may
// contain a dollar sign that does not start a command substitution, except as
// its first character.
var word = lazyregexp.New("^[^\\s\"'`$;&|<>(){}\\[\\]\\\\,](?:[^\\s\"'`$;&|<>(){}\\[\\]\\\\,]|\\$[^\\s\"'`$;&|<>(){}\\[\\]\\\\,])*")

// percentQuote is an encoded quote that ends a value in a form or a URL.
var percentQuote = lazyregexp.New(`(?i)%22|%27|&quot;`)

const (
	minWord   = 4 // minimum number of characters of a value without quotes
	minQuoted = 3
)

// named finds the values of secret names: NAME=value, "name": "value", --name
// value, and similar forms.
func named(s string) []span {
	if !hasName(s) {
		return nil
	}
	q := quotesOf(s)
	return append(newReading(s, q).assigned(), newReading(s, q).flags()...)
}

// reading is one pass over a text from start to end. It caches the results of
// searches ahead, so that a text that repeats a name is not searched again for
// each repetition.
type reading struct {
	s string
	quotes
	wordFrom, wordTo int // position of the last word
	line             int // start of the last line
	percent, stars   ahead
	even             map[string]parity // by the notation of the quote
	read             int               // number of bytes read, for a test of the running time
}

func newReading(s string, q quotes) *reading {
	r := &reading{s: s, quotes: q, even: map[string]parity{}}
	r.percent.find = func(at int) int { return r.found(at, indexAt(percentQuote.FindStringIndex(s[at:]), at)) }
	r.stars.find = func(at int) int { return r.found(at, strings.Index(s[at:], ".*")+at) }
	return r
}

// found counts the characters that a search read to find a match at n, or no
// match.
func (r *reading) found(at, n int) int {
	if r.read += n - at; n < at {
		r.read += len(r.s) - n
	}
	return n
}

// ahead finds the next match at or after a position. The requested positions
// must not decrease.
type ahead struct {
	find func(at int) int // less than at if there is none
	next int
	seen bool
}

// before reports whether there is a match between two positions, and returns
// its position.
func (a *ahead) before(at, end int) (int, bool) {
	if !a.seen || a.next >= 0 && a.next < at {
		a.seen = true
		if a.next = a.find(at); a.next < at {
			a.next = -1
		}
	}
	return a.next, a.next >= at && a.next < end
}

func indexAt(m []int, at int) int {
	if m == nil {
		return at - 1
	}
	return at + m[0]
}

// parity counts the quotes with one notation in a line up to a position.
type parity struct{ line, at, count int }

// word returns the end of the word at a position, which is the same for every
// position in it.
func (r *reading) word(at int) int {
	if at < r.wordFrom || at >= r.wordTo || r.s[at] == '$' {
		r.wordFrom, r.wordTo = at, at+len(word.FindString(r.s[at:]))
		r.read += r.wordTo - at
	}
	return r.wordTo
}

// lineStart returns the start of the line that contains a position.
func (r *reading) lineStart(at int) int {
	if n := strings.LastIndexByte(r.s[r.line:at], '\n'); n >= 0 {
		r.line += n + 1
	}
	return r.line
}

// evenBefore reports whether a quote in an escaped notation is an opening
// quote: the quotes before it on its line are pairs.
func (r *reading) evenBefore(at int, spelling string) bool {
	p := r.even[spelling]
	if start := r.lineStart(at); p.line != start || p.at > at {
		p = parity{line: start, at: start}
	}
	p.count += strings.Count(r.s[p.at:at], spelling)
	r.read += at - p.at
	p.at = at
	r.even[spelling] = p
	return p.count%2 == 0
}

// group returns the text of the n-th group of a match in s, or "".
func group(s string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return s[m[2*n]:m[2*n+1]]
}

// assigned finds the values after a name and a separator.
func (r *reading) assigned() []span {
	s := r.s
	var out []span
	for _, m := range naming.FindAllStringSubmatchIndex(s, -1) {
		name, sep, open := group(s, m, 1), group(s, m, 3), group(s, m, 4)
		if strings.HasPrefix(s[m[1]:], Mark) {
			continue
		}
		// After white space, the value must look like a credential, or name and
		// value must be the only content of the line.
		spaced := strings.TrimSpace(sep) != sep && open == ""
		x, ok := r.valueAt(m[1], open, spaced)
		if spaced && ok && !random(s[x.from:x.to]) {
			ok = beginsLine.MatchString(s[r.lineStart(m[0]):m[0]]) && lastWord(s[x.to:])
		}
		if !ok {
			continue
		}
		if n := strings.IndexByte(s[x.from:x.to], '#'); n > 0 && m[0] > 0 && strings.IndexByte("?&", s[m[0]-1]) >= 0 {
			x.to = x.from + n
		}
		x.kind = kindOf(name)
		out = append(out, x)
	}
	return out
}

// flags finds the values of options.
func (r *reading) flags() []span {
	s := r.s
	var out []span
	for _, m := range flagged.FindAllStringSubmatchIndex(s, -1) {
		name, open := group(s, m, 1), group(s, m, 4)
		if without(name) {
			continue
		}
		if x, ok := r.valueAt(m[1], open, false); ok && s[x.from] != '-' {
			x.kind = kindOf(name)
			out = append(out, x)
		}
	}
	return out
}

// without reports whether an option turns something off or prompts for it, and
// therefore has no value.
func without(name string) bool {
	for _, p := range []string{"no-", "skip-", "ask-", "without-", "disable-", "prompt-"} {
		if strings.HasPrefix(strings.ToLower(name), p) {
			return true
		}
	}
	return false
}

// kindOf returns the kind of credential that a name suggests, for the
// placeholder of its value.
func kindOf(name string) string {
	name = strings.ToLower(strings.Trim(name, "_-."))
	switch {
	case strings.Contains(name, "key"):
		return "key"
	case strings.Contains(name, "pass"), strings.Contains(name, "pwd"), strings.HasSuffix(name, "pw"):
		return "password"
	case strings.Contains(name, "token"), name == "jwt":
		return "token"
	case strings.HasPrefix(name, "sess"), name == "sid":
		return "session"
	case strings.Contains(name, "secret"):
		return "secret"
	}
	return "credential"
}

// valueAt returns the value at a position after an opening quote, if any.
// Spaced means that white space, and no quote, precedes the value.
func (r *reading) valueAt(at int, open string, spaced bool) (span, bool) {
	s, rest := r.s, r.s[at:]
	if strings.HasPrefix(rest, Mark) || rest == "" {
		return span{}, false
	}
	end, least := at+r.quotedEnd(at, open), minQuoted
	if end == at {
		end, least = r.word(at), minWord
		if n, ok := r.percent.before(at, end); ok {
			end = n
		}
	}
	if end-at < least {
		return span{}, false
	}
	value := s[at:end]
	if _, glob := r.stars.before(at, end-1); glob || ordinary.MatchString(value) || placeholderText(value) {
		return span{}, false
	}
	if spaced && value[0] == '-' {
		return span{}, false // an option instead of a value
	}
	return span{from: at, to: end}, true
}

// quotedEnd returns the length of the value up to the quote that closes an
// opening one. It returns 0 if there is no such value.
func (r *reading) quotedEnd(at int, open string) int {
	s := r.s
	switch {
	case open == "'" || open == `"`:
		if n := r.closing(at - 1); n > at && quotable(s[at:n]) {
			return n - at
		}
	case escapedQuote.MatchString(open):
		n := strings.Index(s[at:], open)
		r.read += max(n, 0)
		if n <= 0 || strings.ContainsAny(s[at:at+n], "\\\"'`$;&|<>()\n") {
			return 0
		}
		if !strings.Contains(s[at:at+n], " ") || r.evenBefore(at-len(open), open) {
			return n
		}
	}
	return 0
}

// quotable reports whether the text between two quotes is a value. A value with
// white space must not contain characters with a special meaning in a shell. It
// must not both start and end with white space, because the words of a command
// between two quoted words do.
func quotable(s string) bool {
	if edge := " \t"; s != "" && strings.Contains(edge, s[:1]) && strings.Contains(edge, s[len(s)-1:]) {
		return false
	}
	if strings.ContainsAny(s, "`\n") || strings.Contains(s, "$(") || strings.Contains(s, "${") || strings.HasPrefix(s, "$") {
		return false
	}
	return !strings.ContainsAny(s, " \t") || !strings.ContainsAny(s, ";|&<>()$")
}

// placeholderText reports whether a value is a placeholder.
func placeholderText(s string) bool {
	return strings.HasPrefix(s, "$") || strings.HasPrefix(s, "%") && strings.HasSuffix(s, "%") && len(s) > 2 || strings.HasPrefix(s, "{{")
}

// lastWord reports whether a value before rest is the last word of its line,
// list or quotes.
func lastWord(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return rest == "" || strings.ContainsRune("\n\r\"'`,})]#\\", rune(rest[0]))
}

// random reports whether a word looks like a credential: letters with digits,
// or with upper case after the first letter.
func random(s string) bool {
	var letter, digit, upper bool
	for n, r := range s {
		letter = letter || unicode.IsLetter(r)
		digit = digit || unicode.IsDigit(r)
		upper = upper || n > 0 && unicode.IsUpper(r)
	}
	return letter && (digit || upper) || digit && len(s) >= 6
}

// nameParts lists texts so that every name in names contains at least one of
// them.
var nameParts = []string{"pass", "pwd", "pw", "secret", "key", "token", "credential", "sess", "connection", "auth", "psk", "otp", "sid", "jwt"}

func hasName(s string) bool {
	lower := strings.ToLower(s)
	for _, p := range nameParts {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}
