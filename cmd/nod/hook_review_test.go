package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestNoMoreQuestions checks that a hook that runs before the agent decides on its
// own asks people only if a rule says so, and otherwise leaves the call to the
// agent: to the model with which Codex reviews calls, and to the rules and the
// dialog of Copilot CLI.
func TestNoMoreQuestions(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Policy = []policy.Rule{
			{Name: "reads", Command: []string{"ls *"}, Then: "allow"},
			{Name: "deploys", Command: []string{"deploy *"}, Then: "ask"},
			{Name: "never", Command: []string{"drop *"}, Then: "deny"},
		}
	}})
	url := r.Daemons[0].URL
	const turn = `{"timestamp":"t","type":"turn_context","payload":{"cwd":"/repo","approval_policy":"on-request","approvals_reviewer":%q}}` + "\n"
	const model, person = "auto_review", "user"
	other := `{"type":"event_msg","payload":{"text":"\"turn_context\" ` + strings.Repeat("x", 300<<10) + `"}}` + "\n"
	for name, c := range map[string]struct {
		agent, transcript, config, command string
		asked                              bool
		want                               string
	}{
		"Codex, a model":                  {"codex", fmt.Sprintf(turn, person) + fmt.Sprintf(turn, model) + other + other, "", "make it", false, "left"},
		"Codex, a model, allowed":         {"codex", fmt.Sprintf(turn, model), "", "ls x", false, "left"},
		"Codex, a model, a rule asks":     {"codex", fmt.Sprintf(turn, model), "", "deploy x", true, "deny"},
		"Codex, a model, a rule denies":   {"codex", fmt.Sprintf(turn, model), "", "drop x", false, "deny"},
		"Codex, a person":                 {"codex", fmt.Sprintf(turn, model) + fmt.Sprintf(turn, person), "", "make it", true, "deny"},
		"Codex, a person, config":         {"codex", fmt.Sprintf(turn, person), "approvals_reviewer = 'auto_review'\n", "make it", true, "deny"},
		"Codex, no transcript":            {"codex", "", "", "make it", true, "deny"},
		"Codex, no transcript, config":    {"codex", "", "model = 'x'\napprovals_reviewer = \"auto_review\"\n", "make it", false, "left"},
		"Codex, no transcript, a profile": {"codex", "", "[profiles.x]\napprovals_reviewer = 'auto_review'\n", "make it", true, "deny"},
		"Copilot":                         {"copilot", "", "", "make it", false, "left"},
		"Copilot, allowed":                {"copilot", "", "", "ls x", false, "left"},
		"Copilot, a rule asks":            {"copilot", "", "", "deploy x", true, "deny"},
		"Copilot, a rule denies":          {"copilot", "", "", "drop x", false, "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *r
			sub.T = t
			home := t.TempDir()
			transcript := filepath.Join(home, "rollout.jsonl")
			for path, text := range map[string]string{transcript: c.transcript, filepath.Join(home, "config.toml"): c.config} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			session := strings.ReplaceAll(name, " ", "-")
			input := fmt.Sprintf(`{"session_id":%q,"turn_id":"t","transcript_path":%q,"cwd":"/repo","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":%q}}`, session, transcript, c.command)
			if c.agent == "copilot" {
				input = fmt.Sprintf(`{"hookName":"permissionRequest","sessionId":%q,"cwd":"/repo","toolName":"bash","toolInput":{"command":%q},"permissionSuggestions":[]}`, session, c.command)
			}
			h := startHookWith(t, url, c.agent, input, []string{"CODEX_HOME=" + home})
			if c.asked {
				sub.Press("ana", sub.Card(session).On("telegram"), "Deny")
			}
			if got := permissionOf(t, []byte(h.exit(t, 0))); got != c.want {
				t.Errorf("%s, want %s: %s", got, c.want, h.out.String()+h.err.String())
			}
			page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: session})
			if err != nil || len(page.Items) != 1 || c.asked != (page.Items[0].Response.Actor != nil) {
				t.Errorf("%+v, %v", page.Items, err)
			}
		})
	}
}

// TestDenialsAskNoOne checks that a denial by the automatic check of Claude Code
// asks no one, because a yes would have no effect, and that the session says so.
func TestDenialsAskNoOne(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	if out := startHook(t, r.Daemons[0].URL, "claude", fmt.Sprintf(hookRefused, "auto")).exit(t, 0); out != "{}\n" {
		t.Errorf("output %s", out)
	}
	if page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: "auto"}); err != nil || len(page.Items) != 0 {
		t.Errorf("%+v, %v", page.Items, err)
	}
}

// permissionOf returns the decision in the output of a permission hook: "allow",
// "deny", or "left" if there is none.
func permissionOf(t *testing.T, out []byte) string {
	t.Helper()
	if strings.Contains(string(out), `{"behavior":"deny"`) && !strings.Contains(string(out), "hookSpecificOutput") {
		return "deny"
	}
	return decisionOf(t, out)
}

// TestReviewedFailsClosed checks that a failure of nod is not consent where a model
// reviews calls: no person is at a dialog. In Copilot CLI, its dialog stays.
func TestReviewedFailsClosed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "rollout.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"turn_context","payload":{"approvals_reviewer":"auto_review"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	codex := `{"session_id":"s","transcript_path":"` + path + `","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`
	copilot := `{"hookName":"permissionRequest","sessionId":"s","toolName":"bash","toolInput":{"command":"x"}}`
	for _, c := range []struct{ what, got, want string }{
		{"Codex", unasked(t, "http://127.0.0.1:9", "codex", codex), "deny 0"},
		{"Copilot", unasked(t, "http://127.0.0.1:9", "copilot", copilot), "left 0"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
}
