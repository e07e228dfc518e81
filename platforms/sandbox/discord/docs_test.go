package discord

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumented checks that docs/sandbox.md lists exactly the routes that the
// emulator has.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Discord routes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed, have []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		for _, method := range strings.Split(row[1], ", ") {
			listed = append(listed, method+" "+row[2])
		}
	}
	for _, r := range routes {
		have = append(have, r.pattern)
	}
	slices.Sort(listed)
	slices.Sort(have)
	if !slices.Equal(listed, have) {
		t.Errorf("documented: %v\nemulated:   %v", listed, have)
	}
}
