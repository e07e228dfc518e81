package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nodbridge/nod/cmd/nod/terminal"
)

// openTerminal returns a terminal, and a function that closes it and returns
// what was written to it.
func openTerminal(t *testing.T) (*os.File, func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs pseudo-terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty, func() string {
		tty.Close()
		out, _ := io.ReadAll(master) // ends with an error when the terminal is closed
		return string(out)
	}
}

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
		tty, written := openTerminal(t)
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
