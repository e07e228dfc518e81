package render_test

import (
	"testing"

	"github.com/nodbridge/nod/render"
)

// TestEntry checks that only nod chooses what a button of a list opens.
func TestEntry(t *testing.T) {
	t.Parallel()
	const card = "https://t.me/c/1/2"
	for line, want := range map[string]string{
		"Run make? (ci, 9m left) " + card:                            card,
		"Run make? (ci, 9m left) show 1234":                          "",
		"Run make? (ci, 9m left) https://evil.example (ci, 9m left)": "",
		"(x, 1m left) https://evil.example (ci, 9m left) " + card:    card,
		"Pending requests, next deadline first:":                     "",
	} {
		if text, got := render.Entry(line); got != want || want == "" && text != line {
			t.Errorf("%q opens %q and reads %q", line, got, text)
		}
	}
}
