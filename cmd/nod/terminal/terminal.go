// Package terminal formats output for a terminal: colors and tables. If the
// output is not a terminal, the text is the same, without colors. The content
// of the output does not belong here. Start with [Lines].
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// File returns the file of a stream, including a stream that wraps a file and
// has a method Unwrap.
func File(w io.Writer) (*os.File, bool) {
	for {
		switch v := w.(type) {
		case *os.File:
			return v, true
		case interface{ Unwrap() io.Writer }:
			w = v.Unwrap()
		default:
			return nil, false
		}
	}
}

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := File(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Lines returns the number of lines of a terminal, or zero if w is not a
// terminal.
func Lines(w io.Writer) int {
	if f, ok := File(w); ok {
		if _, lines, err := term.GetSize(int(f.Fd())); err == nil {
			return lines
		}
	}
	return 0
}

// Width returns the number of columns of a terminal, or zero if w is not a
// terminal.
func Width(w io.Writer) int {
	if f, ok := File(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// Palette colors text. The zero Palette leaves it unchanged.
type Palette struct{ on bool }

// Colors returns the palette for w. It has colors only if w is a terminal that
// can show them and NO_COLOR is not set; see no-color.org.
func Colors(w io.Writer) Palette {
	return Palette{Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Color is a color or a weight of text.
type Color string

// The colors, as parameters of the ANSI sequence Select Graphic Rendition.
const (
	Plain  Color = ""
	Bold   Color = "1"
	Dim    Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
)

// Paint returns s in a color.
func (p Palette) Paint(c Color, s string) string {
	if !p.on || c == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}
