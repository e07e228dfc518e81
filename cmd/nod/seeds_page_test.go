package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

var (
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)
	testName = regexp.MustCompile(`\b(?:Test|Example)\w*|\bgolden\b`)
)

// TestSeedsPage checks that the page about protocol conformance names a test for
// each requirement of the five protocols, and that these tests exist.
func TestSeedsPage(t *testing.T) {
	t.Parallel()
	known := testFuncs(t, rig.Root(t))
	rows := map[string]int{}
	section := ""
	for line := range strings.Lines(rig.ReadFile(t, filepath.Join(rig.Root(t), "docs/contribute/seeds.md"))) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		for _, name := range testName.FindAllString(line, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: %s does not exist", section, name)
			}
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.Contains(line, "| Verified by |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if len(cells) != 3 || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			t.Errorf("%s: %s has %d cells, want a requirement, its tests, and how a chat shows it", section, line, len(cells))
			continue
		}
		if rows[section]++; !testName.MatchString(cells[1]) {
			t.Errorf("%s: no test for %s", section, cells[0])
		}
	}
	if len(rows) != 5 {
		t.Errorf("tables of %v, want those of five protocols", rows)
	}
}

// testFuncs returns the names of all tests and examples of the module.
func testFuncs(t *testing.T, root string) []string {
	t.Helper()
	names := []string{"golden"} // which the page explains
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(raw, -1) {
			names = append(names, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
