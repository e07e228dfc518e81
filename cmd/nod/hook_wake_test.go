package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/hook"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestHookWake checks that a message wakes an idle session once and stays for
// the hook that watches, and that nothing else wakes one.
func TestHookWake(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	ana := steerable(r, "s1")
	cache := t.TempDir()
	at, err := url.Parse(r.Daemons[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	polls := make(chan struct{}, 99)
	pass := httputil.NewSingleHostReverseProxy(at)
	pass.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {} // a hook has ended
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Has("wait") {
			polls <- struct{}{}
		}
		pass.ServeHTTP(w, req)
	}))
	t.Cleanup(daemon.Close)
	start := func(entry, event, flag string) *hooked {
		t.Helper()
		for len(polls) > 0 { // of another hook
			<-polls
		}
		h := &hooked{cmd: exec.Command(rig.Binary(t), "hook", "claude", busyReports, flag), done: make(chan int, 1)}
		h.cmd.Env = append(h.cmd.Environ(), "NOD_URL="+daemon.URL, "NOD_TOKEN="+rig.TestAgentToken,
			"HOME="+cache, "XDG_CACHE_HOME="+cache, "CLAUDE_CODE_ENTRYPOINT="+entry)
		h.cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s1","tool_name":"Bash","tool_input":{},"hook_event_name":"%s"}`, event))
		h.cmd.Stdout, h.cmd.Stderr = &h.out, &h.err
		if err := h.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = h.cmd.Wait() // the exit code is checked instead
			h.done <- h.cmd.ProcessState.ExitCode()
		}()
		t.Cleanup(func() { _ = h.cmd.Process.Kill() })
		return h
	}
	waits := func(h *hooked) {
		t.Helper()
		select {
		case code := <-h.done:
			t.Fatalf("the hook ends with %d: %s", code, h.err.String())
		case <-polls: // no message waits, or nod would answer at once
		}
	}
	say := func(text string) bridge.Steering {
		t.Helper()
		m, err := ana.Steer(t.Context(), "", "s1", text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	start("sdk-cli", "Stop", "--wake").exit(t, 0) // claude -p waits for the hook
	start("cli", "SubagentStop", "--wake").exit(t, 0)

	ends := func() { start("cli", "Stop", "--watch").exit(t, 0) }
	ends()
	first := start("cli", "Stop", "--wake")
	waits(first)
	second := start("cli", "Stop", "--wake") // of the next turn
	first.exit(t, 0)
	m := say("go on")
	if second.exit(t, hook.Blocks); second.out.String() != "" || !strings.Contains(second.err.String(), hook.WakeText) {
		t.Errorf("the hook prints %q and %q", second.out.String(), second.err.String())
	}
	if m, err := ana.Steering(t.Context(), "s1", m.ID); err != nil || m.Fate != bridge.FateWaiting {
		t.Errorf("before the prompt, the message is %s, %v", m.Fate, err)
	}
	if got := start("cli", "UserPromptSubmit", "--watch").exit(t, 0); strings.Count(got, "'go on'") != 1 {
		t.Errorf("at the prompt, the agent gets %s", got)
	}

	third := start("cli", "SessionStart", "--wake") // of a session that is resumed and works
	say("while it works")
	if got := start("cli", "PostToolUse", "--watch").exit(t, 0); !strings.Contains(got, "'while it works'") {
		t.Errorf("after a tool, the agent gets %s", got)
	}
	// A stop ends the turn at the next call, without the event for its end.
	if _, err := ana.StopSession(t.Context(), "", "s1"); err != nil {
		t.Fatal(err)
	}
	if got := start("cli", "PreToolUse", "--watch").exit(t, 0); !strings.Contains(got, `"continue":false`) {
		t.Errorf("in a stopped session, the agent gets %s", got)
	}
	waits(third)
	if _, err := ana.ResumeSession(t.Context(), "", "s1"); err != nil {
		t.Fatal(err)
	}
	say("after the stop")
	third.exit(t, hook.Blocks)
	if got := start("cli", "UserPromptSubmit", "--watch").exit(t, 0); !strings.Contains(got, "'after the stop'") {
		t.Errorf("at the prompt after the stop, the agent gets %s", got)
	}

	// The process above has ended, and the turn ends without its event once more.
	fourth := start("cli", "Notification", "--wake")
	fourth.exit(t, 0) // of another kind
	fifth := start("cli", `Notification","notification_type":"idle_prompt`, "--wake")
	waits(fifth)
	say("a minute later")
	fifth.exit(t, hook.Blocks)
}
