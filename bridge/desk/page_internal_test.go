package desk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestPages checks that pages contain all of a list within their limits, also
// one with lines that are longer than a page or that grow when a platform
// escapes them.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"short": strings.Fields(strings.Repeat("a ", 100)), "escaped": {strings.Repeat("&", 1000), strings.Repeat("<", 500), "a"},
		"long": {"a", strings.Repeat("b", 9000), "c"}, "wide": {strings.Repeat("é", 2999), "a"}, "none": nil,
	} {
		all := pages(lines)
		text := ""
		for n, page := range all {
			size := 0
			for _, line := range page {
				size += lineCost(line)
				text += line
			}
			if len(page) > maxLines || size > maxPage || len(page) == 0 && name != "none" {
				t.Errorf("%s: page %d has %d lines of %d", name, n+1, len(page), size)
			}
		}
		if text != strings.Join(lines, "") || len(all) == 0 {
			t.Errorf("%s: %d pages with %d bytes", name, len(all), len(text))
		}
	}
}

// TestListedAfter checks that no line of a list is left out if other lines
// disappear while someone reads it page by page.
func TestListedAfter(t *testing.T) {
	t.Parallel()
	var keys []string
	for n := range 200 {
		keys = append(keys, fmt.Sprintf("k%03d", n))
	}
	lines := func(keys []string) []string {
		out := make([]string, len(keys))
		for n, k := range keys {
			out[n] = "request " + k
		}
		return out
	}
	said := listedAfter("Pending:", keys, lines(keys), bridge.Command{Text: "pending"})
	if !strings.Contains(said, "1 to 15 of 200. Next: /nod pending after k014") {
		t.Fatalf("the first page ends with %q", said[max(0, len(said)-80):])
	}
	left := keys[6:] // six requests of the first page end
	said = listedAfter("Pending:", left, lines(left), bridge.Command{Text: "pending after k014"})
	if !strings.Contains(said, "request k015\n") || strings.Contains(said, "k014\n") || !strings.Contains(said, "10 to 24 of 194.") {
		t.Errorf("the second page is %q", said)
	}
	left = append(slices.Clone(keys[:14]), keys[16:]...) // the last line of the page, and the next one, end
	if said = listedAfter("Pending:", left, lines(left), bridge.Command{Text: "pending after k014"}); !strings.Contains(said, "request k016\n") {
		t.Errorf("the second page is %q", said)
	}
}
