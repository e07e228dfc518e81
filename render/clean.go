package render

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/nodbridge/nod/bridge/visible"
)

// Clean replaces invisible characters with their code points.
func Clean(s string) string { return visible.Text(s) }

// Line returns Clean(s) on one line.
func Line(s string) string { return visible.Line(s) }

// Unit measures the length of a text in the units that a platform counts.
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

// Cut shortens s to at most limit units, between grapheme clusters, and appends
// "…" if it removed anything.
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

// Split cuts s into pieces of at most limit units, at line breaks if possible.
// The concatenation of the pieces is s.
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
			for _, r := range cluster { // combining marks that exceed a message
				add(string(r), unit(string(r)))
			}
		}
	}
	flush()
	return pieces
}
