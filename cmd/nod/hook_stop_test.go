package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestHookStop checks that "Deny and stop" on a permission card stops the
// session: its other hooks deny, pending or new, until someone resumes it.
func TestHookStop(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	url := r.Daemons[0].URL
	const call = `{"session_id":%q,"cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":%q}`
	watch := func(url, session string) string {
		t.Helper()
		return strings.TrimSpace(startHook(t, url, "claude", fmt.Sprintf(call, session, "w"), "--watch").exit(t, 0))
	}
	asks := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "s1"))
	card := r.Card("s1")
	gate := startHook(t, url, "claude", fmt.Sprintf(call, "s1", "t1"))
	r.Eventually("the gate asks as well", func() bool {
		all, err := r.Agent.Sessions(r.Ctx)
		return err == nil && len(all.Items) == 1 && all.Items[0].Pending == 2
	})
	if got := watch(url, "s1"); got != "{}" {
		t.Errorf("before the stop: %s", got)
	}
	r.Decide("ana", card.On("slack"), "Deny and stop")
	const denied = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Denied by ana."}}}`
	if got := strings.TrimSpace(asks.exit(t, 0)); got != denied {
		t.Errorf("the permission hook prints %s", got)
	}
	const starts = `{"continue":false,"stopReason":"No person has denied this. The session is stopped by ana at `
	stopped := func(what, got, starts string) {
		t.Helper()
		if !strings.HasPrefix(got, starts) || !strings.Contains(got, `"permissionDecision":"deny"`) {
			t.Errorf("%s prints %s", what, got)
		}
	}
	stopped("the pending gate", gate.exit(t, 0), starts)
	stopped("a new gate", startHook(t, url, "claude", fmt.Sprintf(call, "s1", "t2")).exit(t, 0), starts)
	stopped("a watching hook", watch(url, "s1"), `{"continue":false,"stopReason":"The session is stopped by ana at `)
	if got := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "s1")).exit(t, 0); !strings.Contains(got, `"behavior":"deny"`) || strings.Contains(got, "interrupt") {
		t.Errorf("a new permission hook prints %s", got)
	}
	if got := watch(url, "s2"); got != "{}" {
		t.Errorf("in another session: %s", got)
	}
	if got := watch("http://127.0.0.1:1", "s1"); got != "{}" {
		t.Errorf("without a daemon: %s", got)
	}
	if got := startHook(t, url, "claude", strings.Repeat(" ", 2<<20)+fmt.Sprintf(call, "s1", "w"), "--watch").exit(t, 0); !strings.Contains(got, "deny") {
		t.Errorf("with a long input: %s", got)
	}
	if _, err := r.Agent.ResumeSession(r.Ctx, "", "s1"); err == nil {
		t.Error("the agent resumes its own session")
	}
	if done, err := rig.NewClient(url, rig.AnaToken).ResumeSession(r.Ctx, "", "s1"); err != nil || len(done) != 1 {
		t.Fatal(done, err)
	}
	if got := watch(url, "s1"); got != "{}" {
		t.Errorf("after the resumption: %s", got)
	}
}
