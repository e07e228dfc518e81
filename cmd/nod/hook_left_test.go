package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// unshowable holds calls that nod cannot show, as members of the input of a hook.
func unshowable() map[string]string {
	long := func(n int) string { return strings.Repeat("x", n) }
	return map[string]string{
		"a large file":        `"tool_name":"Write","tool_input":{"file_path":"/a","content":"` + long(320<<10) + `"}`,
		"more than a body":    `"tool_name":"Write","tool_input":{"file_path":"/a","content":"` + long(2<<20) + `"}`,
		"a long plan":         `"tool_name":"ExitPlanMode","tool_input":{"plan":"` + long(70<<10) + `"}`,
		"no plan":             `"tool_name":"ExitPlanMode","tool_input":{"plan":7}`,
		"an option":           `"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which?","options":[{"label":"` + long(9<<10) + `"},{"label":"b"}]}]}`,
		"no options":          `"tool_name":"AskUserQuestion","tool_input":{"questions":"which"}`,
		"a member twice":      `"tool_name":"Bash","tool_input":{"command":"a","command":"b"}`,
		"invalid UTF-8":       "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"\xff\"}",
		"an inexact number":   `"tool_name":"Bash","tool_input":{"n":0.1000000000000000055}`,
		"too deep":            `"tool_name":"Bash","tool_input":{"n":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		"input that ends":     `"tool_name":"Bash","tool_input":{"command":"a`,
		"no name of the tool": `"tool_input":{"command":"a"}`,
	}
}

// unasked runs a hook whose request no person decides, and returns its output and
// exit code.
func unasked(t *testing.T, url, agent, input string, env ...string) string {
	t.Helper()
	cmd := exec.Command(rig.Binary(t), "hook", agent, busyReports, "--patience", "50ms", "--timeout", "2s", "--unanswered", "deny")
	cmd.Env = append(append(cmd.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken), env...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	_ = cmd.Run() // the exit code is checked instead
	if !strings.Contains(errs.String(), "nod could not ask anyone: ") {
		t.Errorf("stderr: %q", errs.String())
	}
	return fmt.Sprint(decisionOf(t, out.Bytes()), " ", cmd.ProcessState.ExitCode())
}

// decisionOf returns the decision in the output of a hook.
func decisionOf(t *testing.T, out []byte) string {
	t.Helper()
	var o struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Permit   struct {
				Behavior string `json:"behavior"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if d := o.Specific.Decision + o.Specific.Permit.Behavior; d != "" {
		return d
	}
	return "left"
}

// TestUnshownIsLeft checks that a call that nod cannot show is left to the dialog
// at the terminal, and that it is denied where no one is or after a stop.
func TestUnshownIsLeft(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	if _, err := r.Agent.StopSession(r.Ctx, "", "stopped"); err != nil {
		t.Fatal(err)
	}
	for name, call := range unshowable() {
		input := func(session, event, mode string) string {
			return fmt.Sprintf(`{"session_id":%q,"permission_mode":%q,"hook_event_name":%q,%s}`, session, mode, event, call)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct{ what, got, want string }{
				{"a dialog", unasked(t, url, "claude", input("s", "PermissionRequest", "default")), "left 0"},
				{"claude -p", unasked(t, url, "claude", input("s", "PermissionRequest", "default"), "CLAUDE_CODE_ENTRYPOINT=sdk-cli"), "deny 0"},
				{"a dialog after a stop", unasked(t, url, "claude", input("stopped", "PermissionRequest", "default")), "deny 0"},
				{"a gate", unasked(t, url, "claude", input("s", "PreToolUse", "default")), "ask 0"},
				{"a gate in a mode without prompts", unasked(t, url, "claude", input("s", "PreToolUse", "bypassPermissions")), "deny 2"},
				{"a gate after a stop", unasked(t, url, "claude", input("stopped", "PreToolUse", "default")), "deny 2"},
			} {
				if c.got != c.want {
					t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
				}
			}
			for session, want := range map[string]string{"s": "ask", "stopped": "deny"} {
				if got, err := postHook(r.Ctx, url, input(session, "PreToolUse", "default")); err != nil || decisionOf(t, []byte(got)) != want {
					t.Errorf("a gate over HTTP in %s: %s, %v", session, got, err)
				}
			}
			if got, err := postHook(r.Ctx, url, input("s", "PermissionRequest", "default")); err != nil || !strings.Contains(got, `"error"`) {
				t.Errorf("a dialog over HTTP: %s, %v", got, err)
			}
			if got, err := postHook(r.Ctx, url, input("stopped", "PermissionRequest", "default")); err != nil || decisionOf(t, []byte(got)) != "deny" {
				t.Errorf("a dialog over HTTP after a stop: %s, %v", got, err)
			}
		})
	}
	large := unshowable()["a large file"]
	for event, want := range map[string]string{"PermissionRequest": "left 0", "PreToolUse": "deny 2"} {
		in := `{"session_id":%q,"hook_event_name":"` + event + `",` + large + `}`
		if got := unasked(t, url, "codex", fmt.Sprintf(in, "s")); got != want {
			t.Errorf("Codex, %s: %s, want %s", event, got, want)
		}
		if got := unasked(t, url, "codex", fmt.Sprintf(in, "stopped")); !strings.HasPrefix(got, "deny") {
			t.Errorf("Codex, %s after a stop: %s", event, got)
		}
	}
}

// TestDialogOutlivesDaemon checks that a dialog at the terminal stays when nod does
// not work, and that gates and sessions without a keyboard are denied.
func TestDialogOutlivesDaemon(t *testing.T) {
	t.Parallel()
	permission := fmt.Sprintf(hookPermission, "s")
	gate := strings.Replace(permission, "PermissionRequest", "PreToolUse", 1)
	for _, c := range []struct{ what, got, want string }{
		{"a dialog", unasked(t, "http://127.0.0.1:9", "claude", permission), "left 0"},
		{"a dialog of Codex", unasked(t, "http://127.0.0.1:9", "codex", permission), "left 0"},
		{"claude -p", unasked(t, "http://127.0.0.1:9", "claude", permission, "CLAUDE_CODE_ENTRYPOINT=sdk-cli"), "deny 0"},
		{"a gate", unasked(t, "http://127.0.0.1:9", "claude", gate), "deny 2"},
		{"a gate of Codex", unasked(t, "http://127.0.0.1:9", "codex", gate), "deny 2"},
		{"a wrong address", unasked(t, ":nowhere", "claude", permission), "left 0"},
		{"a gate with a wrong address", unasked(t, ":nowhere", "claude", gate), "deny 2"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
}
