package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	hookPermission = `{"session_id":%q,"cwd":"/repo","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"git push"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"git push:*"}],"behavior":"allow","destination":"localSettings"}]}`
	hookQuestions  = `{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"t1","tool_input":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}]}}`
	hookPlan       = `{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"ExitPlanMode","tool_use_id":"t2","tool_input":{"plan":"1. Extract the login"}}`
	hookForm       = `{"session_id":%q,"hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which ticket?","mode":"form","requested_schema":{"type":"object","properties":{"ticket":{"type":"string"}},"required":["ticket"]}}`
	hookDone       = `{"session_id":%q,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_response":{}}`
)

// hooked is a hook's process.
type hooked struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan int
}

func startHook(t *testing.T, url, agent, input string, args ...string) *hooked {
	t.Helper()
	h := &hooked{cmd: exec.Command(nodBinary(t), append([]string{"hook", agent}, args...)...), done: make(chan int, 1)}
	h.cmd.Env = append(h.cmd.Environ(), "NOD_URL="+url, "NOD_TOKEN="+testAgentToken)
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = strings.NewReader(input), &h.out, &h.err
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = h.cmd.Wait() // the exit code says it
		h.done <- h.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _ = h.cmd.Process.Kill() })
	return h
}

func (h *hooked) exit(t *testing.T, want int) string {
	t.Helper()
	select {
	case code := <-h.done:
		if code != want {
			t.Fatalf("exit code %d, want %d: %s%s", code, want, h.out.String(), h.err.String())
		}
	case <-time.After(2 * patience):
		t.Fatal("the hook does not end")
	}
	return h.out.String()
}

// card waits for the card of a session's only pending request.
func (r *rig) card(session string) asked {
	r.t.Helper()
	a := asked{r: r}
	r.eventually("the card is posted", func() bool {
		page, err := r.agent.List(r.ctx, bridge.ListFilter{Session: session, State: bridge.StatePending})
		if err != nil || len(page.Items) != 1 {
			return false
		}
		a.Record = page.Items[0]
		return len(a.Messages)+len(a.Failures) == len(a.Interaction.Destinations)
	})
	return a
}

func TestHookAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack", "telegram")})
	url := r.daemons[0].url
	for name, c := range map[string]struct {
		agent, input, want string
		act                func(r *rig, a asked)
	}{
		"once": {"claude", hookPermission, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, func(r *rig, a asked) {
			r.press("ana", a.on("slack"), "Allow once")
		}},
		"always": {"claude", strings.Replace(hookPermission, `"command":"git push"`, `"command":"git push --tags"`, 1), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"git push:*"}],"behavior":"allow","destination":"localSettings"}]}}}`, func(r *rig, a asked) {
			if !strings.Contains(a.text("slack"), "Bash(git push:*) in this project") {
				r.t.Errorf("the card does not say what always means: %s", a.text("slack"))
			}
			r.press("ana", a.on("telegram"), "Always allow")
		}},
		"question": {"claude", hookQuestions, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}],"answers":{"Which framework?":"Vue"}}}}`, func(r *rig, a asked) {
			r.choose("ana", a.on("slack"), bridge.WidgetRadio, "Vue")
		}},
		"plan": {"claude", hookPlan, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Changes of the plan are wanted: smaller steps"}}`, func(r *rig, a asked) {
			r.typed("ana", a.on("slack"), "Request changes", "smaller steps")
		}},
		"form": {"claude", hookForm, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"ticket":"T-7"}}}`, func(r *rig, a asked) {
			r.typed("ana", a.on("slack"), "Answer", "T-7")
		}},
		"codex": {"codex", hookPermission, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Denied by ana: not now"}}}`, func(r *rig, a asked) {
			r.typed("ana", a.on("slack"), "Deny with a reason", "not now")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sub := *r
			sub.t = t
			session := "hook-" + rand.Text()[:8]
			h := startHook(t, url, c.agent, fmt.Sprintf(c.input, session))
			c.act(&sub, sub.card(session))
			if got := strings.TrimSpace(h.exit(t, 0)); got != c.want {
				t.Errorf("it says\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Run("silence", func(t *testing.T) {
		h := startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookPermission, "silent"), "git push", "git tag", 1), "--timeout", "1s")
		if got := h.exit(t, 0); got != "{}\n" {
			t.Errorf("silence says %s", got)
		}
		h = startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookPermission, "silent2"), "git push", "git tag", 1), "--timeout", "1s", "--unanswered", "deny")
		if got := h.exit(t, 0); !strings.Contains(got, `"behavior":"deny"`) || !strings.Contains(got, "No person has denied it") {
			t.Errorf("silence says %s", got)
		}
	})
}

// The person answers at the terminal: the agent ends its hook, or reports the
// tool's end. The cards close.
func TestHookAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("telegram")})
	url := r.daemons[0].url
	t.Run("the hook is ended", func(t *testing.T) {
		sub := *r
		sub.t = t
		h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "ended"))
		a := sub.card("ended")
		if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		a.closed("Withdrawn by the agent", "answered at the terminal")
	})
	t.Run("the hook is killed, and the tool reported", func(t *testing.T) {
		sub := *r
		sub.t = t
		h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "killed"))
		a := sub.card("killed")
		if err := h.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		a.pending("telegram")
		startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookDone, "killed"), "git push", "git pull", 1)).exit(t, 0)
		a.pending("telegram")
		if got := startHook(t, url, "claude", fmt.Sprintf(hookDone, "killed")).exit(t, 0); got != "{}\n" {
			t.Errorf("a report is answered with %s", got)
		}
		a.closed("answered at the terminal")
	})
	t.Run("an HTTP hook's connection ends", func(t *testing.T) {
		sub := *r
		sub.t = t
		ctx, hangUp := context.WithCancel(r.ctx)
		defer hangUp()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := postHook(ctx, url, fmt.Sprintf(hookPermission, "http")); err == nil {
				t.Error("it was answered")
			}
		})
		a := sub.card("http")
		hangUp()
		wg.Wait()
		a.closed("Withdrawn by the agent")
	})
	t.Run("in the grace time", func(t *testing.T) {
		sub := *r
		sub.t = t
		before := len(sub.sandbox.State().Telegram.Chats[0].Messages)
		h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "graceful"), "--grace", "1m")
		sub.eventually("it is open", func() bool {
			page, err := sub.agent.List(sub.ctx, bridge.ListFilter{Session: "graceful", State: bridge.StatePending})
			return err == nil && len(page.Items) == 1
		})
		if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		sub.eventually("it is withdrawn", func() bool {
			page, err := sub.agent.List(sub.ctx, bridge.ListFilter{Session: "graceful"})
			return err == nil && len(page.Items) == 1 && page.Items[0].State == bridge.StateCancelled
		})
		if after := len(sub.sandbox.State().Telegram.Chats[0].Messages); after != before {
			t.Errorf("%d messages were posted", after-before)
		}
	})
}

func postHook(ctx context.Context, url, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/hooks/claude", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+testAgentToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

// The daemon dies by kill -9 and comes back while a hook waits; the answer in
// Telegram reaches the hook.
func TestHookOutlivesDaemon(t *testing.T) {
	t.Parallel()
	c := newCrashRig(t, "telegram")
	c.k.kill = func() {}
	h := startHook(t, c.url, "claude", fmt.Sprintf(hookPermission, "crash"))
	a := c.card("crash")
	c.kill()
	c.startDaemon()
	c.eventually("the daemon is back", func() bool {
		resp, err := http.Get(c.url + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	c.eventually("the press is taken", func() bool {
		reaction, err := c.sandbox.Person("ana").Press(c.ctx, a.on("telegram"), "Allow once")
		return err == nil && strings.Contains(fmt.Sprint(reaction), "Recorded")
	})
	if got := h.exit(t, 0); !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf("it says %s", got)
	}
}

// Nobody listens: the hook blocks or lets pass, as it was told, and says so.
func TestHookWithoutDaemon(t *testing.T) {
	t.Parallel()
	const nowhere = "http://127.0.0.1:9"
	pre := fmt.Sprintf(hookQuestions, "s")
	for name, c := range map[string]struct {
		input, fail, word string
		code              int
		out               string
	}{
		"a tool is blocked":                 {pre, "closed", "blocked (--fail closed)", 2, `"permissionDecision":"deny"`},
		"a tool passes":                     {pre, "open", "going on without nod (--fail open)", 0, "{}"},
		"a permission is denied":            {fmt.Sprintf(hookPermission, "s"), "closed", "blocked", 0, `"behavior":"deny"`},
		"a permission is left":              {fmt.Sprintf(hookPermission, "s"), "open", "going on without nod", 0, "{}"},
		"an unreadable input":               {"nonsense", "closed", "blocked", 2, `"decision":"block"`},
		"an unreadable input stays blocked": {"nonsense", "open", "blocked", 2, `"decision":"block"`},
		"a report is no reason to stop":     {fmt.Sprintf(hookDone, "s"), "closed", "could not ask", 1, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHook(t, nowhere, "claude", c.input, "--patience", "100ms", "--fail", c.fail)
			out := h.exit(t, c.code)
			if !strings.Contains(h.err.String(), c.word) || !strings.Contains(out, c.out) || (c.out == "") != (out == "") {
				t.Errorf("out %q, err %q", out, h.err.String())
			}
			if out != "" && !json.Valid([]byte(out)) {
				t.Errorf("no JSON: %s", out)
			}
		})
	}
}
