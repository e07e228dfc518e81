package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// build writes a program that prints one row, as nod bench does, with a figure
// that grows by one with each run.
func build(t *testing.T, first int, cost string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
n=$(cat %[1]s/n 2>/dev/null || echo %[2]d)
echo $((n + 1)) > %[1]s/n
echo "$*" >> %[1]s/args
printf '{"results":[{"name":"cycles","unit":"1/s","against":"a limit","value":%%d%[3]s}]}' "$n"
`, dir, first, cost)
	path := filepath.Join(dir, "nod")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	return path
}

// TestPairs checks the medians, the ratios and the arguments of the runs.
func TestPairs(t *testing.T) {
	t.Parallel()
	before := build(t, 10, `,"busy":true,"cost":{"operation":"cycle","process":80,"redis":20}`)
	after := build(t, 20, `,"cost":{"operation":"cycle","process":40,"redis":20}`)
	var out, problems bytes.Buffer
	if code := run(t.Context(), []string{"-n", "3", "-only", "cycles", before, after, "--", "--span", "1s"}, &out, &problems); code != 0 {
		t.Fatalf("exit %d: %s", code, problems.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got []string
	for _, l := range lines[1:] {
		got = append(got, strings.Join(strings.Fields(l), " "))
	}
	want := []string{
		"cycles / a limit 1/s 11 21 1.91 1.83 2.00 3 3",
		"cycles / a limit µs of nod and callers 80 40 0.50 0.50 0.50 3 3",
		"cycles / a limit µs of Redis 20 20 1.00 1.00 1.00 3 3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the table is\n%s", out.String())
	}
	args, err := os.ReadFile(filepath.Join(filepath.Dir(after), "args"))
	if line, _, _ := strings.Cut(string(args), "\n"); err != nil || line != "bench --json --repeats 1 --only cycles --span 1s" {
		t.Errorf("the arguments are %q, %v", line, err)
	}
}

// TestPairsFail checks that a build that cannot be measured ends the run.
func TestPairsFail(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	if code := run(t.Context(), []string{"/nonexistent/nod", "/nonexistent/nod"}, &out, &problems); code != 1 || out.Len() > 0 {
		t.Errorf("exit %d: %s", code, out.String())
	}
	if code := run(t.Context(), []string{"one"}, &out, &problems); code != 2 || !strings.Contains(problems.String(), "Usage") {
		t.Errorf("exit %d without a second build: %s", code, problems.String())
	}
}
