// Package redact replaces credentials in text with placeholders: known formats,
// values whose name or position shows that they are secret, configured
// patterns, and exact values such as the daemon's own tokens.
//
// A placeholder states the kind and the length of a credential. A match ends at
// white space, at a quote and at every character with a special meaning in a
// shell, so that no command can hide behind a credential. The package stores
// nothing: the engine calls it before it stores a request. Start with
// [Redactor.Redact].
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Mark is the start of every placeholder.
const Mark = "[redacted"

// Placeholder returns the placeholder for a secret of a kind.
func Placeholder(kind, secret string) string {
	if n := strings.Count(strings.TrimRight(secret, "\n"), "\n"); n > 0 {
		return fmt.Sprintf("%s %s, %d lines]", Mark, kind, n+1)
	}
	n, unit := utf8.RuneCountInString(secret), "characters"
	if n == 1 {
		unit = "character"
	}
	return fmt.Sprintf("%s %s, %d %s]", Mark, kind, n, unit)
}

// minValue is the minimum length of an exact value. Shorter values are ordinary
// words.
const minValue = 6

// Redactor replaces credentials. It is safe for concurrent use.
type Redactor struct {
	more  []*regexp.Regexp
	exact []string // longest first
}

var _ bridge.Redactor = (*Redactor)(nil)

// New returns a redactor for known formats, for patterns (RE2), whose matches
// are redacted completely, and for exact values.
func New(patterns, values []string) (*Redactor, error) {
	r := &Redactor{}
	for n, s := range patterns {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", n, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("[%d]: %q matches empty text", n, s)
		}
		r.more = append(r.more, re)
	}
	for _, v := range values {
		if len(v) >= minValue {
			r.exact = append(r.exact, v)
		}
	}
	slices.SortFunc(r.exact, func(a, b string) int { return len(b) - len(a) })
	return r, nil
}

// span is a part of the text to redact.
type span struct {
	from, to int
	kind     string
}

// Redact returns s with credentials replaced by placeholders. Redacting the
// result again does not change it.
func (r *Redactor) Redact(s string) string {
	if len(s) < 4 {
		return s
	}
	for _, find := range []func(string) []span{r.values, privateKeys, tokens, places, named, r.patterns} {
		s = replace(s, find(s))
	}
	return s
}

// replace replaces spans with placeholders. It skips a span that overlaps an
// earlier one or a placeholder, or that precedes a placeholder.
func replace(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	done := placeholder.FindAllStringIndex(s, -1)
	var b strings.Builder
	end := 0
	for _, x := range spans {
		for len(done) > 0 && done[0][1] <= x.from {
			done = done[1:]
		}
		if x.from < end || x.from >= x.to || strings.HasPrefix(s[x.to:], Mark) || len(done) > 0 && done[0][0] < x.to {
			continue
		}
		b.WriteString(s[end:x.from])
		b.WriteString(Placeholder(x.kind, s[x.from:x.to]))
		end = x.to
	}
	b.WriteString(s[end:])
	return b.String()
}

var placeholder = lazyregexp.New(`\[redacted [A-Za-z0-9 ]+, \d+ (?:characters?|lines)\]`)

// values finds the exact values.
func (r *Redactor) values(s string) []span {
	var out []span
	var taken []bool // the bytes that previous values cover
	// Longer values come first. Otherwise, redacting a value that is part of a
	// longer one would leave the rest of the longer one visible.
	for _, v := range r.exact {
		for at := 0; ; {
			n := strings.Index(s[at:], v)
			if n < 0 {
				break
			}
			x := span{at + n, at + n + len(v), "value"}
			at = x.to
			if taken == nil {
				taken = make([]bool, len(s))
			}
			if taken[x.from] || taken[x.to-1] { // the remaining values are not longer
				continue
			}
			for k := x.from; k < x.to; k++ {
				taken[k] = true
			}
			out = append(out, x)
		}
	}
	return out
}

// patterns finds the matches of the configured patterns.
func (r *Redactor) patterns(s string) []span {
	var out []span
	for _, re := range r.more {
		for _, m := range re.FindAllStringIndex(s, -1) {
			out = append(out, span{m[0], m[1], "pattern"})
		}
	}
	return out
}

// Secret reports whether a field with the name contains a secret.
func (r *Redactor) Secret(name string) bool { return secretName.MatchString(name) }
