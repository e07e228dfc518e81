package proof

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// plainDepth is the maximum depth of what canonicalPlain converts.
const plainDepth = 64

// canonicalPlain returns the canonical form of an object in one pass, and false
// for an object that it leaves to Canonical: one that CheckJSON would reject, or
// with a number that is not a short integer, a name that is not plain ASCII, or
// a character that is escaped but would not have to be.
func canonicalPlain(raw []byte) ([]byte, bool) {
	c := canonicalizer{raw: raw, out: make([]byte, 0, len(raw))}
	c.space()
	if c.next() != '{' || !c.object(plainDepth) {
		return nil, false
	}
	c.space()
	return c.out, c.at == len(raw)
}

// canonicalizer converts raw from at on. Its methods append what they have read
// to out. They return false for what canonicalPlain does not convert.
type canonicalizer struct {
	raw, out []byte
	at       int
	spare    []byte // for sorting
}

// next returns the next byte, or 0 at the end.
func (c *canonicalizer) next() byte {
	if c.at == len(c.raw) {
		return 0
	}
	return c.raw[c.at]
}

// take skips a byte and reports whether it was the next one.
func (c *canonicalizer) take(b byte) bool {
	if c.next() != b || b == 0 {
		return false
	}
	c.at++
	return true
}

func (c *canonicalizer) space() {
	for c.at < len(c.raw) && (c.raw[c.at] == ' ' || c.raw[c.at] == '\n' || c.raw[c.at] == '\t' || c.raw[c.at] == '\r') {
		c.at++
	}
}

func (c *canonicalizer) value(depth int) bool {
	switch b := c.next(); {
	case b == '{':
		return c.object(depth)
	case b == '[':
		return c.array(depth)
	case b == '"':
		return c.text()
	case b == '-' || b >= '0' && b <= '9':
		return c.integer()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if rest := c.raw[c.at:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			c.at += len(word)
			c.out = append(c.out, word...)
			return true
		}
	}
	return false
}

// member is a member of an object in the output: from its name until its end,
// without the comma.
type member struct{ from, name, end int }

func (c *canonicalizer) object(depth int) bool {
	if c.at++; depth == 0 {
		return false
	}
	c.out = append(c.out, '{')
	var few [8]member
	all, begin := few[:0], len(c.out)
	for c.space(); !c.take('}'); c.space() {
		if len(all) > 0 {
			if !c.take(',') {
				return false
			}
			c.out = append(c.out, ',')
			c.space()
		}
		m := member{from: len(c.out)}
		if c.next() != '"' || !c.text() {
			return false
		}
		if m.name = len(c.out); !plainName(c.out[m.from:m.name]) {
			return false
		}
		c.space()
		if !c.take(':') {
			return false
		}
		c.out = append(c.out, ':')
		c.space()
		if !c.value(depth - 1) {
			return false
		}
		m.end = len(c.out)
		all = append(all, m)
	}
	if !c.sort(all, begin) {
		return false
	}
	c.out = append(c.out, '}')
	return true
}

// plainName reports whether a quoted name has only ASCII without escapes. Such
// names have the same order as bytes and as UTF-16, and are equal only if their
// bytes are.
func plainName(name []byte) bool {
	for _, b := range name[1 : len(name)-1] {
		if b >= utf8.RuneSelf || b == '\\' {
			return false
		}
	}
	return true
}

// sort sorts the members of an object, which begin at begin. It returns false if
// two have the same name.
func (c *canonicalizer) sort(all []member, begin int) bool {
	// Without their closing quote, names sort like their text.
	order := func(a, b member) int {
		return bytes.Compare(c.out[a.from+1:a.name-1], c.out[b.from+1:b.name-1])
	}
	sorted := true
	for n := 1; n < len(all); n++ {
		sorted = sorted && order(all[n-1], all[n]) < 0
	}
	if sorted {
		return true
	}
	slices.SortFunc(all, order)
	c.spare = c.spare[:0]
	for n, m := range all {
		if n > 0 {
			if order(all[n-1], m) == 0 {
				return false
			}
			c.spare = append(c.spare, ',')
		}
		c.spare = append(c.spare, c.out[m.from:m.end]...)
	}
	c.out = append(c.out[:begin], c.spare...)
	return true
}

func (c *canonicalizer) array(depth int) bool {
	if c.at++; depth == 0 {
		return false
	}
	c.out = append(c.out, '[')
	first := true
	for c.space(); !c.take(']'); c.space() {
		if !first {
			if !c.take(',') {
				return false
			}
			c.out = append(c.out, ',')
			c.space()
		}
		if first = false; !c.value(depth - 1) {
			return false
		}
	}
	c.out = append(c.out, ']')
	return true
}

// text copies a string whose escapes are those of the canonical form.
func (c *canonicalizer) text() bool {
	begin := c.at
	for c.at++; c.at < len(c.raw); c.at++ {
		switch b := c.raw[c.at]; {
		case b == '"':
			c.at++
			text := c.raw[begin:c.at]
			c.out = append(c.out, text...)
			return utf8.Valid(text)
		case b < ' ':
			return false
		case b == '\\':
			c.at++
			switch c.next() {
			case '"', '\\', 'b', 'f', 'n', 'r', 't':
			default:
				return false
			}
		}
	}
	return false
}

// shortInteger is the number of digits of the integers that a double represents
// exactly, and that the canonical form writes with all their digits.
const shortInteger = 15

// integer copies a short integer.
func (c *canonicalizer) integer() bool {
	begin := c.at
	c.take('-')
	digits := c.at
	for b := c.next(); b >= '0' && b <= '9'; b = c.next() {
		c.at++
	}
	n := c.at - digits
	if n == 0 || n > shortInteger || c.raw[digits] == '0' && (n > 1 || begin < digits) {
		return false
	}
	if b := c.next(); b == '.' || b == 'e' || b == 'E' {
		return false
	}
	c.out = append(c.out, c.raw[begin:c.at]...)
	return true
}
