package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchored = regexp.MustCompile(`\]\(([^):]*)#([^)]+)\)`)
	named    = regexp.MustCompile(`docs/[a-z/-]+\.md(#[a-z0-9-]+)?`)
)

// TestAnchors checks that links to headings are valid, in documents and in the
// texts of the program.
func TestAnchors(t *testing.T) {
	t.Parallel()
	const root = "../.."
	headings := map[string][]string{}
	for _, doc := range documents(t, root) {
		for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(rig.ReadFile(t, filepath.Join(root, doc)), ""), -1) {
			headings[doc] = append(headings[doc], slug(m[1]))
		}
	}
	check := func(from, target, anchor string) {
		if found, ok := headings[target]; !ok || anchor != "" && !slices.Contains(found, anchor) {
			t.Errorf("%s names %s#%s, which does not exist", from, target, anchor)
		}
	}
	for doc := range headings {
		for _, m := range anchored.FindAllStringSubmatch(rig.ReadFile(t, filepath.Join(root, doc)), -1) {
			target := doc
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(doc), m[1])
			}
			check(doc, target, m[2])
		}
	}
	out, err := exec.Command("git", "-C", root, "grep", "-noE", named.String(), "--", "*.go", "*.yaml", "*.yml", "*.tpl", "*.txt", "*.sh", "Makefile").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		target, anchor, _ := strings.Cut(named.FindString(line), "#")
		check(line, target, anchor)
	}
}

// slug returns the anchor that GitHub generates for a heading.
func slug(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteRune(c)
		}
	}
	return b.String()
}
