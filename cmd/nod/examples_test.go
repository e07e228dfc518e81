package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestPythonExample runs the Python example with the installed Python. The
// conformance tests run the TypeScript example, because they have its compiler.
func TestPythonExample(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	start := func(stdin string, args ...string) func() (string, int) {
		cmd := exec.Command(python, append([]string{"../../docs/agents/examples/nod.py"}, args...)...)
		cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken, "PYTHONDONTWRITEBYTECODE=1")
		cmd.Stdin = strings.NewReader(stdin)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() (string, int) {
			_ = cmd.Wait() // the exit code is checked instead
			if errs.Len() > 0 {
				t.Error(errs.String())
			}
			return strings.TrimSpace(out.String()), cmd.ProcessState.ExitCode()
		}
	}
	card := func(prompt string) rig.Asked {
		a := rig.Asked{R: r}
		r.Eventually("the card is posted", func() bool {
			page, err := r.Agent.List(r.Ctx, bridge.ListFilter{State: bridge.StatePending})
			for _, rec := range page.Items {
				if strings.Contains(rec.Interaction.Prompt, prompt) && len(rec.Messages) > 0 {
					a.Record = rec
				}
			}
			return err == nil && a.Interaction.ID != ""
		})
		return a
	}
	end := start("", "ask", "Which region?", "eu", "us")
	r.Press("ana", card("Which region?").On("telegram"), "us")
	if out, code := end(); out != "us" || code != 0 {
		t.Errorf("ask: %q, exit %d", out, code)
	}
	end = start("", "approve", "Drop it?", `{"command": "drop"}`)
	r.Press("ana", card("Drop it?").On("telegram"), "Deny")
	if _, code := end(); code != 1 {
		t.Errorf("a denial exits with %d", code)
	}
	end = start(`{"action_requests":[{"name":"mail","args":{"to":"a"}}],"review_configs":[{"action_name":"mail","allowed_decisions":["approve","reject"]}]}`, "exchange", "langchain_hitl")
	r.Approve("ana", card("mail").On("telegram"))
	if out, _ := end(); out != `{"decisions": [{"type": "approve"}]}` {
		t.Errorf("exchange: %s", out)
	}
}
