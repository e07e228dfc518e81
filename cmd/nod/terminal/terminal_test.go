package terminal

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// TestTable checks that columns align, also with wide characters, and that the
// output has no colors unless it goes to a terminal.
func TestTable(t *testing.T) {
	t.Parallel()
	var table Table
	table.Head("ID", "STATE", "REQUEST")
	table.Row(Cell{Text: "1"}, Cell{"pending", Yellow}, Cell{Text: "日本 go?"})
	table.Row(Cell{Text: "日本"}, Cell{"", Plain}, Cell{Text: "x"})
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "ID    STATE    REQUEST\n1     pending  日本 go?\n日本           x\n"
	if b.String() != want {
		t.Errorf("it writes\n%swant\n%s", b.String(), want)
	}
}

// TestPaint checks the palette of a terminal and of anything else.
func TestPaint(t *testing.T) {
	t.Parallel()
	if got := (Palette{true}).Paint(Red, "no"); got != "\x1b[31mno\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := Colors(&strings.Builder{}).Paint(Red, "no"); got != "no" {
		t.Errorf("%q", got)
	}
}

// TestCut checks that a cut text never exceeds its columns.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"short", strings.Repeat("x", 40), strings.Repeat("日", 40), "日本語日本語x"} {
		if got := Cut(s, 12); uniseg.StringWidth(got) > 12 || !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Errorf("%q: %q", s, got)
		}
	}
}
