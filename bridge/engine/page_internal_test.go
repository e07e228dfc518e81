package engine

import (
	"strings"
	"testing"
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
