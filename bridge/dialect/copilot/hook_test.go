package copilot_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/copilot"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

// Inputs as Copilot CLI 1.0.102 sends them.
const (
	shell = `{"hookName":"permissionRequest","sessionId":"s-1","timestamp":1795676949373,"cwd":"/repo","toolName":"bash","toolInput":{"command":"git push"},"permissionSuggestions":[]}`
	edit  = `{"hookName":"permissionRequest","sessionId":"s-1","timestamp":1795676949374,"cwd":"/repo","toolName":"edit","toolInput":{"file_path":"/repo/a.txt","diff":"\ndiff --git a/repo/a.txt b/repo/a.txt\n--- a/repo/a.txt\n+++ b/repo/a.txt\n@@ -1,2 +1,2 @@\n-one\n+three\n two\n"},"permissionSuggestions":[]}`
)

func TestHooks(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "hooks")
	for name, c := range map[string]struct {
		in   string
		resp bridge.Response
	}{
		"once":    {shell, bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}},
		"session": {shell, bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeSession}},
		"denied":  {shell, bridge.Response{State: bridge.StateDenied, Reason: "not on a Friday"}},
		"stopped": {shell, bridge.Response{State: bridge.StateDenied, Reason: "enough", Stop: true}},
		"silence": {shell, bridge.Response{State: bridge.StateExpired}},
		"edit":    {edit, bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := copilot.Hook([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			out := book.Golden(t, name, c.in, tr, c.resp)
			if strings.Contains(out, "allow") != (c.resp.State == bridge.StateApproved) {
				t.Errorf("%s: %s", c.resp.State, out)
			}
		})
	}
}

// TestRefused checks that nothing but the event that asks is answered, and that no
// output without a decision allows anything.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{}`, strings.Replace(shell, "permissionRequest", "preToolUse", 1), strings.Replace(shell, `"toolName":"bash",`, "", 1), "[]"} {
		if _, err := copilot.Hook([]byte(in)); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", in, err)
		}
	}
	for event, want := range map[string]string{copilot.PermissionRequest: `{}`, "": `{"behavior":"deny","message":"why"}`, "preToolUse": `{"behavior":"deny","message":"why"}`} {
		if out, err := dialect.Encode(copilot.Unasked(event, dialect.Unasked{Attended: true}, "why")); err != nil || string(out) != want {
			t.Errorf("%q: %s, %v", event, out, err)
		}
	}
}
