package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestSameHook checks that nod-hook and nod hook do the same thing, even with a wrong
// command line, without a daemon, and without a token.
func TestSameHook(t *testing.T) {
	t.Parallel()
	run := func(token, input, program string, args ...string) [3]string {
		cmd := exec.Command(program, args...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NOD_") })
		cmd.Env = append(cmd.Env, "NOD_URL=http://127.0.0.1:9", "NOD_TOKEN="+token)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
		_ = cmd.Run()                                                           // the exit code is compared
		why, _, _ := strings.Cut(errs.String(), "nod did not get the report: ") // which limit it reaches first depends on the machine
		return [3]string{out.String(), why, cmd.ProcessState.String()}
	}
	lines := [][]string{
		{"--fail", "open"}, {"--batch", "5s"}, {"--unanswered", "maybe"}, {"--wrong"}, {"argument"}, {"--gate", "Bash(x"}, {"--timeout", "soon"},
	}
	compare := func(token, input string, args ...string) {
		t.Helper()
		small := run(token, input, rig.Binary(t)+"-hook", args...)
		if large := run(token, input, rig.Binary(t), append([]string{"hook"}, args...)...); small != large {
			t.Errorf("%q with %s:\n nod-hook: %q\n nod hook: %q", args, input, small, large)
		}
	}
	for n, e := range hookEvents {
		compare(rig.TestAgentToken, e.input, e.agent, "--patience", "1ms")
		compare("", e.input, e.agent)
		if n == 0 {
			for _, line := range lines {
				compare(rig.TestAgentToken, e.input, append([]string{e.agent, "--patience", "1ms"}, line...)...)
			}
		}
	}
	compare(rig.TestAgentToken, hookEvents[0].input, "claude", "--watch")
	compare(rig.TestAgentToken, hookEvents[0].input, "claude", "--wake")
	compare(rig.TestAgentToken, "{", "claude")
	for _, args := range [][]string{{}, {"--help"}, {"claude", "--help"}, {"claudius"}, {"--wrong"}, {"codex", "--watch"}} {
		compare(rig.TestAgentToken, "", args...)
	}
}
