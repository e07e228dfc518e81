// Package visible replaces invisible characters with their code points, so that
// people see every character of the text. It does not escape markup (package
// render). Start with [Text].
package visible

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// maxMarks is the number of combining marks that may follow a letter. Languages
// need up to three. More of them hide the letter and the lines around it.
const maxMarks = 4

// blanks are characters without ink that no Unicode property covers: fillers,
// null glyphs and joiners.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0335, Hi: 0x0338, Stride: 1}, // overlays that strike through a letter
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x20d0, Hi: 0x20f0, Stride: 1}, // marks around and across symbols
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // Braille pattern without dots
		{Lo: 0x2d7f, Hi: 0x2d7f, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffd, Stride: 1}, // annotations and replacement characters
	},
	R32: []unicode.Range32{
		{Lo: 0x1107f, Hi: 0x1107f, Stride: 1},
		{Lo: 0x13441, Hi: 0x13442, Stride: 1}, // blank hieroglyphs
		{Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1},
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}, // null notehead
	},
}

// hidden are the properties of invisible characters. The first three, together
// with Cf, make up Default_Ignorable_Code_Point.
var hidden = []*unicode.RangeTable{
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blanks,
	unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Me,
}

// joining are the scripts in which ZWJ and ZWNJ occur between letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

const (
	zwnj, zwj   = 0x200c, 0x200d
	textStyle   = 0xfe0e
	emojiStyle  = 0xfe0f
	keycap      = 0x20e3
	lightSkin   = 0x1f3fb
	darkSkin    = 0x1f3ff
	blackFlag   = 0x1f3f4
	firstTag    = 0xe0020
	lastTag     = 0xe007f
	placeholder = "⟨U+%04X⟩"
)

// Text returns s with every invisible character replaced by ⟨U+XXXX⟩. It keeps
// newlines, tabs and spaces, and also joiners and selectors inside an emoji or
// between letters of a script that needs them.
func Text(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	rs := []rune(s)
	marks := 0
	for n, r := range rs {
		if unicode.Is(unicode.M, r) {
			marks++
		} else if r != zwj && r != zwnj {
			marks = 0
		}
		crowded := marks > maxMarks || marks == maxMarks && (r == zwj || r == zwnj) && unicode.Is(unicode.M, at(rs, n+1))
		if crowded || !shown(rs, n) {
			fmt.Fprintf(&b, placeholder, r)
			rs[n] = -1 // no character needs a neighbor that is replaced
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Line is like Text, but returns a single line with single spaces.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// plain reports whether s consists of printable ASCII, newlines and tabs.
func plain(s string) bool {
	for n := range len(s) {
		if c := s[n]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// shown reports whether the n-th character is visible or its neighbors need it.
func shown(rs []rune, n int) bool {
	r, before, after := rs[n], at(rs, n-1), at(rs, n+1)
	switch {
	case r == ' ', r == '\n', r == '\t':
		return true
	case r == textStyle, r == emojiStyle:
		return Pictograph(before) || after == keycap && keycapBase(before)
	case r == keycap:
		return keycapBase(before) || before == emojiStyle && keycapBase(at(rs, n-2))
	case r >= firstTag && r <= lastTag:
		return inFlag(rs, n)
	case r == zwj && Pictograph(after):
		return Pictograph(before) || skin(before) || before == emojiStyle && Pictograph(at(rs, n-2))
	case r == zwj, r == zwnj:
		return joins(before) && joins(after)
	}
	return inked(r)
}

// inked reports whether a character is visible on its own.
func inked(r rune) bool {
	return !unicode.IsOneOf(hidden, r) && unicode.IsGraphic(r) // an unassigned character has an unknown appearance
}

// Escape returns s with every character replaced that is not visible on its
// own, so that different texts never look alike. It is stricter than Text: it
// replaces newlines, tabs, joiners and selectors everywhere, a space that
// follows a space, and a mark that does not follow a letter.
func Escape(s string, escape func(rune) string) string {
	var b strings.Builder
	before, marks := rune('"'), 0 // the character before the text
	for _, r := range s {
		if marks++; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		stray := marks > maxMarks || marks > 0 && (unicode.IsPunct(before) || unicode.IsSpace(before))
		switch {
		case r == ' ' && before != ' ', r != ' ' && inked(r) && !stray:
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
		before = r
	}
	return b.String()
}

func at(rs []rune, n int) rune {
	if n < 0 || n >= len(rs) {
		return -1
	}
	return rs[n]
}

// copyright is an emoji that a joiner binds to any other.
const copyright = "\u200d\u00a9"

// Pictograph reports whether a character may be part of an emoji. It uses
// Unicode's rules for grapheme clusters: a joiner binds only emoji, including
// future ones.
func Pictograph(r rune) bool {
	if r < 0xa9 || !inked(r) {
		return false
	}
	text := string(r) + copyright
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return cluster == text || skin(r)
}

// flags lists the regions whose flag emoji consists of tags.
var flags = []string{"gbeng", "gbsct", "gbwls"}

// inFlag reports whether the n-th character, a tag, belongs to the flag of a
// region. Other tags are invisible text.
func inFlag(rs []rune, n int) bool {
	for n > 0 && rs[n] >= firstTag && rs[n] <= lastTag {
		n--
	}
	if rs[n] != blackFlag {
		return false
	}
	return slices.ContainsFunc(flags, func(region string) bool {
		for k, c := range region {
			if at(rs, n+1+k) != c+firstTag-' ' {
				return false
			}
		}
		return at(rs, n+1+len(region)) == lastTag
	})
}

func skin(r rune) bool { return r >= lightSkin && r <= darkSkin }

func keycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

func joins(r rune) bool {
	return unicode.IsOneOf(joining, r) && (unicode.IsLetter(r) || unicode.IsMark(r)) && inked(r)
}
