package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun checks the hits, their locations and the exit code.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	code := write("a.go", "package a\n\n// X can\n// not be used.\nvar x = \"the whole licence\" // fine\n")
	doc := write("b.md", "# What is wrong?\n\nIt is `is away` in code.\n\n```sh\necho anew\n```\n\n- The server is away.\n")
	clean := write("c.lua", "-- Stores a grant once.\nreturn 'anew'\n")
	allow := write("allow", "# The file is a quotation.\naway "+filepath.ToSlash(doc)+" server\n")
	unused := write("unused", "away "+filepath.ToSlash(clean)+" server\n")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{code}, 1, []string{"a.go:3: cannot", "a.go:5: british"}},
		{[]string{doc}, 1, []string{"b.md:1: heading", "b.md:9: away"}},
		{[]string{"-max", "3", doc}, 0, nil},
		{[]string{"-allow", allow, doc}, 1, []string{"b.md:1: heading"}},
		{[]string{"-allow", unused, clean}, 1, nil},
		{[]string{clean}, 0, nil},
		{[]string{"-counts", dir}, 1, []string{"1 away"}},
		{[]string{filepath.Join(dir, "missing")}, 2, nil},
		{[]string{"-unknown"}, 2, nil},
	} {
		var out, problems strings.Builder
		if got := run(c.args, &out, &problems); got != c.code {
			t.Errorf("%v: exit code %d, want %d: %s%s", c.args, got, c.code, out.String(), problems.String())
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: no %q in %q", c.args, want, out.String())
			}
		}
		if c.want == nil && out.Len() > 0 {
			t.Errorf("%v: unexpected %q", c.args, out.String())
		}
	}
}

// TestRulesHaveNames checks that every rule has a name that an allow list can
// use.
func TestRulesHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rules {
		if r.name == "" || strings.Contains(r.name, " ") || seen[r.name] || r.fix == "" {
			t.Errorf("rule %q: duplicate, without a name, or without a fix", r.name)
		}
		seen[r.name] = true
	}
}
