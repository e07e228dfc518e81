package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/removed"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// saying runs a command line, and returns its exit code and both outputs.
func saying(stdin string, args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = Run(args, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// lostBy returns the commands that lost a flag: all that exist, for a flag
// without a command.
func lostBy(row removed.Name) []string {
	var out []string
	path, _, _ := strings.Cut(row.Name, "--")
	path = strings.TrimSpace(path)
	for name, c := range commandTree(fullTree()) {
		ours := path == "" || name == path || strings.HasPrefix(name, path+" ")
		if ours && name != "" && c.Runnable() && c.Flags().Lookup(strings.TrimPrefix(cli.FlagOf(row), "--")) == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// TestRemovedCommands checks that a removed command does nothing except name
// its replacement, or runs the command that replaces it.
func TestRemovedCommands(t *testing.T) {
	t.Setenv("NOD_URL", "http://127.0.0.1:1")
	t.Setenv("NOD_TOKEN", "")
	for _, row := range removed.All(removed.Command) {
		words := strings.Fields(row.Name)
		lines := [][]string{words, append(slices.Clone(words), "x", "--json"), append(slices.Clone(words), "--help"), append([]string{"help"}, words...)}
		if row.Runs != "" {
			lines = lines[3:]
			if _, _, errs := saying("", words...); !strings.Contains(errs, "running nod "+row.Runs) {
				t.Errorf("nod %s: %q", row.Name, errs)
			}
		}
		for _, line := range lines {
			code, out, errs := saying("", line...)
			if code != 2 || out != "" || !strings.Contains(errs, "was removed\nnod: hint: "+row.Instead+"\n") {
				t.Errorf("nod %s: exit %d, stdout %q, stderr %q; want %q", strings.Join(line, " "), code, out, errs, row.Instead)
			}
		}
	}
}

// TestRemovedFlags checks that a removed flag is an error that names its
// replacement. The commands that agents start ignore it.
func TestRemovedFlags(t *testing.T) {
	t.Setenv("NOD_URL", "http://127.0.0.1:1")
	for _, row := range removed.All(removed.Flag) {
		flag := cli.FlagOf(row)
		lost := lostBy(row)
		if len(lost) == 0 {
			t.Errorf("%s: no command could have lost it", row.Name)
		}
		forms := [][]string{{flag}, {flag + "=5s"}}
		if row.Value {
			forms = append(forms, []string{flag, "5s"})
		}
		for _, name := range lost {
			words := strings.Fields(name)
			for _, form := range forms {
				if slices.Contains(cli.OfAgents, words[0]) {
					checkIgnored(t, words, form, "nod: ignoring "+flag+", which was removed: "+row.Instead+"\n")
					continue
				}
				line := append(slices.Clone(words), form...)
				code, out, errs := saying("", line...)
				if (code != 2 && code != 112) || out != "" || !strings.Contains(errs, flag+" was removed\nnod: hint: "+row.Instead+"\n") {
					t.Errorf("nod %s: exit %d, stdout %q, stderr %q", strings.Join(line, " "), code, out, errs)
				}
			}
		}
	}
}

// checkIgnored checks that a command does the same with and without a removed
// flag, with and without a token, and that only a line on stderr differs.
func checkIgnored(t *testing.T, words, form []string, line string) {
	t.Helper()
	stdin, tail := "", []string{"--timeout", "1s"}
	switch words[0] {
	case "hook":
		stdin = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"u"}`
		tail = []string{"--patience", "1ms"}
	case "proxy":
		tail = append(tail, "--", "true")
	}
	for _, token := range []string{"", rig.TestAgentToken} {
		t.Setenv("NOD_TOKEN", token)
		args := append(append(slices.Clone(words), form...), tail...)
		code, out, errs := saying(stdin, args...)
		wantCode, wantOut, wantErrs := saying(stdin, append(slices.Clone(words), tail...)...)
		if code != wantCode || out != wantOut || errs != line+wantErrs {
			t.Errorf("nod %s: exit %d, stdout %q, stderr %q; want %d, %q, %q", strings.Join(args, " "), code, out, errs, wantCode, wantOut, line+wantErrs)
		}
	}
}

// TestRemovedValues checks that a removed value of a flag names its replacement.
func TestRemovedValues(t *testing.T) {
	for _, row := range removed.All(removed.Value) {
		setting, value, _ := strings.Cut(row.Name, ": ")
		flag := strings.ReplaceAll(setting, "_", "-")
		for name, c := range commandTree(fullTree()) {
			f := c.Flags().Lookup(flag)
			if f == nil {
				continue
			}
			if _, chosen := cli.Choices(f); !chosen || name == "hook" {
				continue
			}
			code, out, errs := saying("", append(strings.Fields(name), "--"+flag, value)...)
			if (code != 2 && code != 112) || out != "" || !strings.Contains(errs, "was removed\nnod: hint: "+row.Instead+"\n") {
				t.Errorf("nod %s --%s %s: exit %d, stdout %q, stderr %q", name, flag, value, code, out, errs)
			}
		}
	}
}
