package terminal

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// Cell is the text and the color of one cell of a table.
type Cell struct {
	Text  string
	Color Color
}

// Table writes rows with aligned columns, two spaces apart.
type Table struct {
	Cut  bool // on a terminal, cut the last column at the right edge
	rows [][]Cell
}

// Head adds a row of column titles.
func (t *Table) Head(titles ...string) {
	row := make([]Cell, len(titles))
	for n, title := range titles {
		row[n] = Cell{title, Bold}
	}
	t.Row(row...)
}

// Row adds a row.
func (t *Table) Row(cells ...Cell) { t.rows = append(t.rows, cells) }

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	var widths []int
	for _, row := range t.rows {
		for n, c := range row {
			if n == len(widths) {
				widths = append(widths, 0)
			}
			widths[n] = max(widths[n], uniseg.StringWidth(c.Text))
		}
	}
	colors, edge := Colors(w), Width(w)
	var b strings.Builder
	for _, row := range t.rows {
		at := 0
		for n, c := range row {
			text := c.Text
			if n == len(row)-1 {
				if t.Cut && edge > 0 {
					text = Cut(text, edge-at)
				}
				b.WriteString(colors.Paint(c.Color, text))
				break
			}
			b.WriteString(colors.Paint(c.Color, text) + strings.Repeat(" ", widths[n]-uniseg.StringWidth(text)+2))
			at += widths[n] + 2
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// minCut is the minimum width of a text that is cut, in columns.
const minCut = 10

// Cut shortens s to a number of columns.
func Cut(s string, columns int) string {
	columns = max(columns, minCut)
	if uniseg.StringWidth(s) <= columns {
		return s
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += g.Width(); used >= columns {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}
