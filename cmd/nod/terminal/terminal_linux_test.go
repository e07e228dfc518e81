package terminal

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/pty"
)

// wrapped is a stream that wraps another one.
type wrapped struct{ io.Writer }

func (w wrapped) Unwrap() io.Writer { return w.Writer }

// TestScreen checks that the size of a terminal is known, also through a stream
// that wraps it, and that nothing else has a size.
func TestScreen(t *testing.T) {
	t.Parallel()
	tty, _ := pty.Open(t, 40, 120)
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, x := range map[string]struct {
		w              io.Writer
		lines, columns int
		terminal       bool
	}{
		"a terminal":         {tty, 40, 120, true},
		"a wrapped terminal": {wrapped{wrapped{tty}}, 40, 120, true},
		"a file":             {file, 0, 0, false},
		"a wrapped file":     {wrapped{file}, 0, 0, false},
		"memory":             {&strings.Builder{}, 0, 0, false},
		"wrapped memory":     {wrapped{&strings.Builder{}}, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if lines, columns := Lines(x.w), Width(x.w); lines != x.lines || columns != x.columns || Is(x.w) != x.terminal {
				t.Errorf("%d lines, %d columns, terminal %t; want %d, %d, %t", lines, columns, Is(x.w), x.lines, x.columns, x.terminal)
			}
		})
	}
}

// TestTableIsCut checks that a table ends at the right edge of a terminal if it may
// be cut there.
func TestTableIsCut(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	for cut, want := range map[bool]string{true: "ID  abcdefghijklmno…\r\n", false: "ID  abcdefghijklmnopqrstuvwxyz\r\n"} {
		tty, written := pty.Open(t, 24, 20)
		table := Table{Cut: cut}
		table.Row(Cell{Text: "ID"}, Cell{Text: "abcdefghijklmnopqrstuvwxyz"})
		err := table.Write(tty)
		if got := written(); err != nil || got != want {
			t.Errorf("cut %t: %q, %v, want %q", cut, got, err, want)
		}
	}
}
