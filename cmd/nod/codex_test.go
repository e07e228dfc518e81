package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestGraceRefused checks that nod does not wait before it posts a request that
// no one could answer elsewhere in the meantime.
func TestGraceRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"init", "codex", "--file", filepath.Join(t.TempDir(), "hooks.json"), "--grace", "10s"},
		{"proxy", "acp", "--only-chat", "--grace", "10s", "--", "true"},
	} {
		var out, errs bytes.Buffer
		if code := Run(args, strings.NewReader(""), &out, &errs); code != 2 || !strings.Contains(errs.String(), "--grace: not") {
			t.Errorf("%v: exit code %d, %s", args, code, errs.String())
		}
	}
}
