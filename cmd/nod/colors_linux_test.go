package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/platforms/platformtest/pty"
)

// TestColors checks that only a terminal gets colors, and none if NO_COLOR is
// set or the terminal is dumb.
func TestColors(t *testing.T) {
	const escape = "\x1b["
	for _, x := range []struct {
		noColor, term string
		colored       bool
	}{{"", "xterm", true}, {"", "", true}, {"1", "xterm", false}, {"0", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", x.noColor)
		t.Setenv("TERM", x.term)
		tty, written := pty.Open(t, 0, 0)
		if !terminal.Is(tty) {
			t.Fatal("not a terminal")
		}
		if code := Run([]string{"doctor", "--offline", "--config", "missing.yaml"}, strings.NewReader(""), tty, tty); code != 1 {
			t.Errorf("exit %d", code)
		}
		Run([]string{"aprove"}, strings.NewReader(""), tty, tty)
		out := written()
		if !strings.Contains(out, "FAILED") || !strings.Contains(out, "unknown command") {
			t.Fatalf("%q", out)
		}
		if strings.Contains(out, escape) != x.colored {
			t.Errorf("NO_COLOR=%q TERM=%q: %q", x.noColor, x.term, out)
		}
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	Run([]string{"doctor", "--offline", "--config", "missing.yaml"}, strings.NewReader(""), file, file)
	Run([]string{"aprove"}, strings.NewReader(""), file, file)
	raw, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(raw), "FAILED") || strings.Contains(string(raw), escape) {
		t.Errorf("a file gets %q, %v", raw, err)
	}
}
