package telegram

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumented checks that docs/sandbox.md lists exactly the methods that the
// emulator has.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Telegram methods\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(row[1], -1) {
			listed = append(listed, strings.ToLower(name[1]))
		}
	}
	have := append(slices.Collect(maps.Keys(methods)), "getupdates")
	slices.Sort(listed)
	slices.Sort(have)
	if !slices.Equal(listed, have) {
		t.Errorf("documented: %v\nemulated:   %v", listed, have)
	}
}
