package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestRunProgram checks that nod run shows and evaluates the program that it
// starts. A rule for a name does not allow another program of that name that
// comes first in PATH, and the program on the card is the one that runs.
func TestRunProgram(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		c.Policy = []policy.Rule{{Name: "look", Command: []string{"uname *"}, Then: "allow"}}
	}})
	evil := t.TempDir()
	programs.Write(t, filepath.Join(evil, "uname"), "#!/bin/sh\necho evil ran as \"$0\"\n")
	start := func(path string, dir string, args ...string) (*exec.Cmd, *strings.Builder) {
		cmd := exec.Command(rig.Binary(t), append([]string{"run", "--"}, args...)...)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &out, dir
		cmd.Env = []string{"PATH=" + path, "NOD_URL=" + r.Daemons[0].URL, "NOD_TOKEN=" + rig.TestAgentToken, "HOME=" + evil}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, &out
	}
	cmd, out := start("/usr/bin:/bin", evil, "uname", "-s")
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "Linux") && !strings.Contains(out.String(), "Darwin") {
		t.Fatalf("the system's own program is not allowed: %v\n%s", err, out)
	}
	for _, c := range []struct{ path, dir, name string }{{evil + ":/usr/bin:/bin", "/", "uname"}, {"/usr/bin:/bin", evil, "./uname"}, {"/usr/bin:/bin", "/", evil + "/uname"}} {
		cmd, out := start(c.path, c.dir, c.name)
		var rec bridge.Record
		r.Eventually("a person is asked about "+c.name, func() bool {
			page, err := r.Agent.List(r.Ctx, bridge.ListFilter{State: bridge.StatePending})
			if err != nil || len(page.Items) != 1 {
				return false
			}
			rec = page.Items[0]
			return len(rec.Messages) > 0
		})
		if want := `"program":"` + evil + `/uname"`; !strings.Contains(string(rec.Interaction.Approval.Input), want) {
			t.Errorf("%s: the input %s does not have %s", c.name, rec.Interaction.Approval.Input, want)
		}
		if _, err := r.Person.Respond(r.Ctx, rec.Interaction.ID, rig.AnswerOnce); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "evil ran as "+evil+"/uname") {
			t.Errorf("%s: what was shown did not run: %v\n%s", c.name, err, out)
		}
	}
}

// TestRunWithStdin checks that a rule allows a command whose standard input has
// ended, as in a CI job, that it allows one with content only if it names stdin,
// and that the command reads what it was allowed to read.
func TestRunWithStdin(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Policy = []policy.Rule{
			{Name: "count", Command: []string{"wc -c"}, Then: "allow"},
			{Name: "copy", Command: []string{"cat"}, Input: map[string]string{"stdin": "a pipe"}, Then: "allow"},
		}
	}})
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nod := "'" + rig.Binary(t) + "' run --timeout 1s -- "
	for _, c := range []struct{ line, want string }{
		// read waits until the other end of the pipe is closed.
		{": | { read -r _; " + nod + "wc -c; }", "0"}, {"(exec 0<&1; :) | { read -r _; " + nod + "wc -c; }", "0"},
		{nod + "wc -c <'" + empty + "'", "0"}, {nod + "wc -c </dev/null", "0"},
		{"echo x | " + nod + "wc -c", "exit 113"}, {"echo x | " + nod + "cat", "x"}, {"echo x > '" + empty + "2'; " + nod + "wc -c <'" + empty + "2'", "exit 113"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("bash", "-c", c.line+"; code=${PIPESTATUS[-1]}; [ $code = 0 ] || echo exit $code")
			cmd.Env = []string{"PATH=/usr/bin:/bin", "NOD_URL=" + r.Daemons[0].URL, "NOD_TOKEN=" + rig.TestAgentToken, "HOME=" + filepath.Dir(empty)}
			out, err := cmd.Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}
