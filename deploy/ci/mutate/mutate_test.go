package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sourceOf returns a package that has one file.
func sourceOf(t *testing.T, text string) *source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &source{target: target{path: "a"}, fset: token.NewFileSet()}
	s.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if err := s.read(path); err != nil {
		t.Fatal(err)
	}
	if err := s.check(s.files, &s.info); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestChanges checks which changes are made of a statement, and that those that do
// not compile are left out.
func TestChanges(t *testing.T) {
	t.Parallel()
	const before = "package a\n\nfunc do(a, b string, n int) bool { return a == b }\n\ntype fault struct{}\n\nfunc (fault) Error() string { return a0 }\n\nconst a0 = \"\"\n\nfunc f(a, b string, n int, ok bool) error {\n"
	const after = "\nreturn nil\n}\n"
	for statement, want := range map[string][]string{
		"if n < 3 { n++ }":          {"", "if !(n < 3) { n++ }", "if n <= 3 { n++ }", "if n < (3+1) { n++ }", "if n < 3 {  }"},
		"if !ok { return fault{} }": {"", "if ok { return fault{} }", "if !ok { return nil }"},
		"if ok && n > 3 { return nil }": {
			"", "if !(ok && n > 3) { return nil }", "if ok || n > 3 { return nil }", "if ok && n >= 3 { return nil }", "if ok && n > (3+1) { return nil }",
		},
		"do(a, b, n)":                  {"", "do(b, a, n)"},
		"do(a+b, b, n)":                {"", "do(b, a+b, n)", "do(a, b, n)"},
		"ok = true":                    {"", "ok = false"},
		"c := n - n; _ = c":            {"c := n + n; _ = c"}, // without the second statement, c is not used
		"switch { case ok: n++ }":      {"switch { case !(ok): n++ }", "switch { case ok:  }"},
		"for n != 2 { n *= 2; break }": {"for n == 2 { n *= 2; break }", "for n != (2+1) { n *= 2; break }", "for n != 2 { ; break }", "for n != 2 { n *= (2+1); break }", "for n != 2 { n *= 2;  }"},
	} {
		s := sourceOf(t, before+statement+after)
		var got []string
		for _, c := range s.changes() {
			text := string(c.apply())
			if changed, ok := strings.CutPrefix(text, before); ok && s.compiles(c) {
				got = append(got, strings.TrimSuffix(changed, after))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", statement, got, want)
		}
	}
}

// TestRepeated checks that a seed gives the same changes again, and another seed
// gives others.
func TestRepeated(t *testing.T) {
	t.Parallel()
	packages, err := load(t.Context(), chosen("broker,bridge/l/"))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 {
		t.Fatalf("%d packages are loaded, want 1", len(packages))
	}
	list := func(seed uint64) string {
		var out []string
		for _, c := range pick(packages, options{number: 5, seed: seed, at: regexp.MustCompile(`^broker/store\.go:\d+ With$`)}) {
			out = append(out, c.diff())
		}
		return strings.Join(out, "\n")
	}
	if one := list(1); one != list(1) || one == list(2) || strings.Count(one, "+++") != 5 {
		t.Errorf("the changes of seed 1 are\n%s", one)
	}
}

// TestRun checks that changes are tried, and that the table counts each of them.
func TestRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles tests")
	}
	var out, log strings.Builder
	code := run(t.Context(), []string{"-n", "2", "-only", "broker"}, &out, &log)
	noticed, survived := strings.Count(out.String(), "\nnoticed "), strings.Count(out.String(), "\nsurvived ")
	if noticed+survived != 2 || (code == 0) != (survived == 0) || strings.Count(out.String(), "\n+++ broker/") != survived {
		t.Errorf("exit code %d\n%s\n%s", code, &out, &log)
	}
	if code := run(t.Context(), []string{"-n", "0"}, &out, &log); code != 2 {
		t.Errorf("without changes, the exit code is %d", code)
	}
}
