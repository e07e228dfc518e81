package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestHookSession checks the message of a session of Claude Code, from the input
// of its hooks: working, waiting for a permission, waiting for its user, and
// finished.
func TestHookSession(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Sessions = true
		c.Routes[bridge.DefaultRoute] = route
	}})
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/fix/login\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hook := func(event string, more map[string]any) *hooked {
		t.Helper()
		in := map[string]any{"session_id": "s1", "cwd": dir, "hook_event_name": event}
		for k, v := range more {
			in[k] = v
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		return startHook(t, r.Daemons[0].URL, "claude", string(raw))
	}
	report := func(event string, more map[string]any) {
		t.Helper()
		h := hook(event, more)
		if got := strings.TrimSpace(h.exit(t, 0)); got != "{}" || h.err.Len() > 0 {
			t.Errorf("%s prints %s%s", event, got, h.err.String())
		}
	}
	var message rig.Asked
	shows := func(words ...string) {
		t.Helper()
		r.Clear(func() string {
			all, err := r.Agent.Sessions(r.Ctx)
			if err != nil || len(all.Items) != 1 || all.Items[0].Status == nil || all.Items[0].Status.Message == "" {
				return fmt.Sprintf("no session has a message: %+v, %v", all, err)
			}
			rec, err := r.Daemons[0].Engine().Get(r.Ctx, all.Items[0].Status.Message)
			if err != nil || len(rec.Messages) == 0 {
				return fmt.Sprintf("the message is not posted: %v, %v", rec.Failures, err)
			}
			message = rig.Asked{Record: rec, R: r}
			text := message.Text("telegram")
			for _, w := range words {
				if !strings.Contains(text, w) {
					return fmt.Sprintf("the message of %+v lacks %q: %s", all.Items[0].Status, w, text)
				}
			}
			return ""
		})
	}
	report("UserPromptSubmit", map[string]any{"prompt": "Fix the login\nand nothing else"})
	shows("▶️ tester is working", "Fix the login and nothing else", "branch fix/login", filepath.Base(dir))
	asks := hook("PermissionRequest", map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": "make"}, "agent_id": "a1", "agent_type": "Explore",
	})
	card := r.Card("s1")
	shows("⏸️ tester is waiting for an answer", "Run make?")
	if text := card.Text("telegram"); !strings.Contains(text, "subagent Explore") || !strings.Contains(text, "session “Fix the login") {
		t.Errorf("the card shows %s", text)
	}
	r.Approve("ana", card.On("telegram"))
	asks.exit(t, 0)
	report("PostToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "make"}})
	shows("▶️ tester is working", "Bash: make")
	report("Stop", map[string]any{"last_assistant_message": "All tests pass."})
	shows("⏸️ tester is waiting", "your next message", "All tests pass.")
	report("UserPromptSubmit", map[string]any{"prompt": "<task-notification>done</task-notification>"})
	shows("▶️ tester is working", "Fix the login")
	report("SessionEnd", map[string]any{"reason": "other"})
	shows("🏁 tester has finished", "Fix the login")
}
