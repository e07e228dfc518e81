package pairs

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/programs"
)

// build writes a program that prints one row, as the benchmark does, with a figure
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
	programs.Write(t, path, script)
	return path
}

// TestPairs checks the medians, the ratios and the arguments of the runs.
func TestPairs(t *testing.T) {
	t.Parallel()
	before := build(t, 10, `,"busy":true,"cost":{"operation":"cycle","process":80,"redis":20}`)
	after := build(t, 20, `,"cost":{"operation":"cycle","process":40,"redis":20}`)
	var out, problems bytes.Buffer
	if err := Run(t.Context(), []string{"-n", "3", "-only", "cycles", before + " bench", after, "--", "--span", "1s"}, &out, &problems); err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got []string
	for _, l := range lines[1:] {
		got = append(got, strings.Join(strings.Fields(l), " "))
	}
	want := []string{
		"cycles 1/s 11 21 1.91 1.83 2.00 3 3",
		"cycles µs of nod and callers 80 40 0.50 0.50 0.50 3 3",
		"cycles µs of Redis 20 20 1.00 1.00 1.00 3 3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the table is\n%s", out.String())
	}
	for program, want := range map[string]string{
		before: "bench --json --repeats 1 --only cycles --span 1s", after: "--json --repeats 1 --only cycles --span 1s",
	} {
		args, err := os.ReadFile(filepath.Join(filepath.Dir(program), "args"))
		if line, _, _ := strings.Cut(string(args), "\n"); err != nil || line != want {
			t.Errorf("the arguments are %q, %v, want %q", line, err, want)
		}
	}
}

// TestNames checks that a row is found again if it is compared with something
// else, and that a run counts it once.
func TestNames(t *testing.T) {
	t.Parallel()
	rows := add(nil, []row{{Name: "cycles", Value: 10}, {Name: "clicks", Value: 5}, {Name: "cycles", Value: 11}}, 0)
	rows = add(rows, []row{{Name: "cycles", Value: 20}}, 1)
	var out bytes.Buffer
	report(&out, rows)
	if len(rows) != 2 || !strings.Contains(out.String(), "2.00          2.00   2.00  1") || strings.Contains(out.String(), "clicks") {
		t.Errorf("%d rows:\n%s", len(rows), out.String())
	}
}

// TestPairsFail checks that a build that cannot be measured ends the run.
func TestPairsFail(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	if err := Run(t.Context(), []string{"/nonexistent/nod", "/nonexistent/nod"}, &out, &problems); err == nil || out.Len() > 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := Run(t.Context(), []string{"one"}, &out, &problems); !errors.Is(err, flag.ErrHelp) || !strings.Contains(problems.String(), "Usage") {
		t.Errorf("%v without a second build: %s", err, problems.String())
	}
}
