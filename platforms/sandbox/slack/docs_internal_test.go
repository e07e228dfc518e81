package slack

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listedIn returns the code words of the first column of a table, by the
// heading above it.
func listedIn(t *testing.T, heading string) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n##")
	var out []string
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			out = append(out, word[1])
		}
	}
	slices.Sort(out)
	return out
}

// TestDocumentation checks that the documentation lists exactly what the
// emulator has.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	for heading, have := range map[string][]string{
		"### Slack methods":  slices.Sorted(maps.Keys(methods)),
		"### Slack blocks":   slices.Sorted(maps.Keys(blocks)),
		"### Slack elements": slices.Sorted(maps.Keys(elements)),
	} {
		if got := listedIn(t, heading); !slices.Equal(got, have) {
			t.Errorf("%s lists %q, want %q", heading, got, have)
		}
	}
}
