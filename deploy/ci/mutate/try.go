package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// result is a change with the test that noticed it.
type result struct {
	change
	by   string // empty if the change survived
	took time.Duration
}

func (r result) String() string {
	if r.by == "" {
		return "survived " + r.change.String()
	}
	return "noticed " + r.change.String() + ": " + r.by
}

// trier runs the tests on changes.
type trier struct {
	options
	dir    string                   // directory of the overlay and the tests
	needed map[string]time.Duration // durations by package, for the unchanged source
	log    io.Writer
}

func newTrier(o options, log io.Writer) (*trier, error) {
	dir, err := os.MkdirTemp("", "mutate")
	return &trier{options: o, dir: dir, needed: map[string]time.Duration{}, log: log}, err
}

func (t *trier) close() { _ = os.RemoveAll(t.dir) }

// try runs the tests that can notice a change, until one of them does.
func (t *trier) try(ctx context.Context, c change) (result, error) {
	began, paths := time.Now(), []string{c.of.path}
	if !t.narrow {
		paths = append(paths, c.of.then...)
	}
	for _, path := range paths {
		limit, err := t.limit(ctx, path)
		if err != nil {
			return result{}, err
		}
		by, err := t.test(ctx, path, &c, limit)
		if by != "" || err != nil {
			return result{c, by, time.Since(began)}, err
		}
	}
	return result{c, "", time.Since(began)}, nil
}

// limit returns the time limit of the tests of a package. It first runs them on
// the unchanged source, because a test that fails there proves nothing.
func (t *trier) limit(ctx context.Context, path string) (time.Duration, error) {
	if _, known := t.needed[path]; !known {
		began := time.Now()
		by, err := t.test(ctx, path, nil, 10*time.Minute)
		if err == nil && by != "" {
			err = fmt.Errorf("%s fails without a change: %s", path, by)
		}
		if err != nil {
			return 0, err
		}
		t.needed[path] = time.Since(began)
		fmt.Fprintf(t.log, "unchanged: %s takes %s\n", path, t.needed[path].Round(time.Second))
	}
	return max(t.least, 3*t.needed[path]), nil
}

// failure matches the name of a failed test, and the message of a test run that
// ended early.
var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .*)|^(fatal error: .*)|^WARNING: (DATA RACE)`)

// test runs the tests of a package, with a change unless c is nil. It returns how
// they noticed it, or "" if they pass.
func (t *trier) test(ctx context.Context, path string, c *change, limit time.Duration) (string, error) {
	binary := filepath.Join(t.dir, "test")
	args := []string{"go", "test", "-c", "-vet=off", "-o", binary}
	if c != nil {
		overlay, err := t.overlay(*c)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := t.run(ctx, ".", append(args, module+path)...); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "compiler", fmt.Errorf("%s: %w\n%s", path, err, out)
	}
	dir, err := t.run(ctx, ".", "go", "list", "-f", "{{.Dir}}", module+path)
	if err != nil {
		return "", err
	}
	out, err := t.run(ctx, strings.TrimSpace(dir), binary, "-test.short", "-test.failfast", "-test.run", t.options.run, "-test.timeout", limit.String())
	if ctx.Err() != nil || err == nil {
		return "", ctx.Err()
	}
	if _, failed := errors.AsType[*exec.ExitError](err); !failed {
		return "", err
	}
	how := "exit"
	if m := failure.FindStringSubmatch(out); m != nil {
		how = strings.TrimSpace(strings.Join(m[1:], ""))
		how = how[:min(len(how), 100)]
	}
	return path + " " + how, nil
}

// overlay writes the file that replaces a source file with its changed text.
func (t *trier) overlay(c change) (string, error) {
	changed, list := filepath.Join(t.dir, "changed.go"), filepath.Join(t.dir, "overlay.json")
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {c.of.names[c.file]: changed}})
	if err != nil {
		return "", err
	}
	return list, errors.Join(os.WriteFile(changed, c.apply(), 0o600), os.WriteFile(list, raw, 0o600))
}

// run runs a command, and returns its output.
func (t *trier) run(ctx context.Context, dir string, args ...string) (string, error) {
	if args[1] != "list" {
		args = append(t.exec[:len(t.exec):len(t.exec)], args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}
