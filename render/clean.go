package render

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Clean makes hidden characters visible, so that what is read is what is
// there: control characters, direction overrides, zero-width spaces. Newline,
// tab, and the joiners that scripts and emoji need stay.
func Clean(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n', r == '\t', r == 0x200d, r == 0x200c:
			b.WriteRune(r)
		case r == '\r', unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar, r == 0x2028, r == 0x2029:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is Clean on one line.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Unit measures text the way a service counts it.
type Unit func(string) int

// Runes counts Unicode code points.
func Runes(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

// UTF16 counts UTF-16 code units.
func UTF16(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Cut shortens s to at most limit units, at a border between characters as
// people see them, and ends it with "…" if anything was cut.
func Cut(s string, limit int, unit Unit) string {
	if unit(s) <= limit {
		return s
	}
	room := limit - unit("…")
	var b strings.Builder
	for state, rest := -1, s; rest != "" && room > 0; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if room -= unit(cluster); room < 0 {
			break
		}
		b.WriteString(cluster)
	}
	if limit < 1 {
		return ""
	}
	return strings.TrimRight(b.String(), " \n\t") + "…"
}

// Split cuts s into pieces of at most limit units, at line ends where there
// are any. Joined, the pieces are s.
func Split(s string, limit int, unit Unit) []string {
	var pieces []string
	var b strings.Builder
	used := 0
	flush := func() {
		if b.Len() > 0 {
			pieces = append(pieces, b.String())
			b.Reset()
			used = 0
		}
	}
	add := func(part string, n int) {
		if used+n > limit {
			flush()
		}
		b.WriteString(part)
		used += n
	}
	for line := range strings.Lines(s) {
		if n := unit(line); n <= limit {
			add(line, n)
			continue
		}
		for state, rest := -1, line; rest != ""; {
			var cluster string
			cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
			if unit(cluster) <= limit {
				add(cluster, unit(cluster))
				continue
			}
			for _, r := range cluster { // a heap of combining marks longer than a message
				add(string(r), unit(string(r)))
			}
		}
	}
	flush()
	return pieces
}
