package setup

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/programs"
)

// TestHookProgram checks that hooks run nod-hook if it is next to nod and of the
// same version, that they run nod hook otherwise, and that each run of nod init
// replaces the entries of the other.
func TestHookProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version string // of nod-hook; empty means that there is none
		small   bool
		says    string
	}{
		"same": {"1.0.0", true, ""}, "older": {"0.9.0", false, "is not the same version"}, "none": {"", false, ""}, "broken": {"1.0.0; exit 1", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "my tools")
			write := func(name, version string) {
				programs.Write(t, filepath.Join(dir, name), fmt.Sprintf("#!/bin/sh\necho %s %s\n", name, version))
			}
			write("nod", "1.0.0")
			if c.version != "" {
				write("nod-hook", c.version)
			}
			for agent, connect := range map[string]func(*Settings) error{
				"claude": func(s *Settings) error { return s.Claude(HookOptions{Grace: time.Second}) }, "codex": func(s *Settings) error { return s.Codex(HookOptions{}) },
				"copilot": func(s *Settings) error { return s.Copilot(HookOptions{}) },
			} {
				path := filepath.Join(t.TempDir(), "settings.json")
				run := func(program string, undo bool) (string, string) {
					var talk bytes.Buffer
					s := Settings{Path: path, Undo: undo, Program: program, Out: io.Discard, Talk: &talk}
					if err := connect(&s); err != nil {
						t.Fatal(err)
					}
					raw, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					return string(raw), talk.String()
				}
				large, _ := run("/nowhere/nod", false) // what is installed already
				if !strings.Contains(large, "/nowhere/nod hook "+agent) {
					t.Errorf("%s: %s", agent, large)
				}
				got, said := run(filepath.Join(dir, "nod"), false)
				want := "/my tools/nod' hook " + agent
				if c.small {
					want = "/my tools/nod-hook' " + agent
				}
				if strings.Count(got, want) != strings.Count(large, "/nowhere/nod hook "+agent) || strings.Contains(got, "/nowhere/") {
					t.Errorf("%s: %s", agent, got)
				}
				if strings.Count(said, "is not the same version") != strings.Count(c.says, "is not the same version") {
					t.Errorf("%s: says %q", agent, said)
				}
				if again, _ := run("/nowhere/nod", false); again != large {
					t.Errorf("%s: back: %s", agent, again)
				}
				run(filepath.Join(dir, "nod"), false)
				if undone, _ := run("nod", true); strings.Contains(undone, "nod") {
					t.Errorf("%s: after the undo: %s", agent, undone)
				}
			}
		})
	}
}

// TestCommandLines checks that the words of nod-hook count as those of nod hook, so
// that nod doctor names removed flags and foreign daemons in both.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	for _, settings := range []any{
		"NOD_URL=http://x '/a b/nod' hook claude --url http://y", "NOD_URL=http://x '/a b/nod-hook' claude --url http://y", "nod-hook.exe claude --url http://y",
		map[string]any{"command": "/bin/nod-hook", "args": []any{"claude", "--url", "http://y"}},
	} {
		if got := fmt.Sprint(commandLines(settings)); got != "[[hook claude --url http://y]]" {
			t.Errorf("%v: %s", settings, got)
		}
	}
}

// TestHookDecides checks which command lines fail if nod fails or does not run,
// and let the agent read what nod writes.
func TestHookDecides(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"nod hook claude": true, "A=b env C=d nod hook claude --gate x": true, "exec nod hook claude 2>>log": true, "nod hook claude 2>/dev/null": true,
		". ~/nod.env && nod hook claude": true, "cd /srv; nod hook claude": true, "cat | nod hook claude": true, "nod hook claude && true": true,
		"nod hook claude || exit 2": true, "nod hook claude || exit 0": false, "nod hook claude || true": false, "nod hook claude || exit": false,
		"nod hook claude; exit 0": false, "nod hook claude; true": false, "nod hook claude | tee log": false, "nod hook claude &": false, "! nod hook claude": false,
		"command -v nod || exit 0; nod hook claude": false, "command -v nod || exit 2; nod hook claude": true, "[ -f x ] || nod hook claude": false,
		"exec 2>>log; nod hook claude": true, "exec true; nod hook claude": false, "(cd /srv && nod hook claude)": true, "{ nod hook claude; }": true,
		"{ command -v nod || exit 0; exec 2>>log; }; nod hook claude": false, "{ exec >log; exec 3<x; }; nod hook claude": false,
		"trap 'exit 0' EXIT; nod hook claude": false, "{ trap 'exit 0' ERR; } && nod hook claude": false,
		"nod hook claude >>log": false, "nod hook claude 1>log": false, "{ nod hook claude; } >/dev/null": false, "nod hook claude >&2": false,
		"nod hook claude &>log": false, "nod hook claude 2>&1": false, "exec >log; nod hook claude": false, "exec 3<x 2>&1; nod hook claude": false,
		"nod hook claude <x 3>log": true, "exec 3<x; nod hook claude": true, "echo x >log; nod hook claude": true,
		"if [ -x nod ]; then nod hook claude; fi": false, "echo $(nod hook claude)": false, "nod hook claude || (exit 2)": false,
	} {
		line, ours := parseHookLine(command, "claude")
		if !ours || line.decides != want {
			t.Errorf("%s: %+v, %v; want %v", command, line, ours, want)
		}
	}
}
