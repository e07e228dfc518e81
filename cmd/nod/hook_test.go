package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/hook"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

const (
	hookPermission = `{"session_id":%q,"cwd":"/repo","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"git push"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"git push:*"}],"behavior":"allow","destination":"localSettings"}]}`
	hookQuestions  = `{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"t1","tool_input":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}]}}`
	hookPlan       = `{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"ExitPlanMode","tool_use_id":"t2","tool_input":{"plan":"1. Extract the login"}}`
	hookRefused    = `{"session_id":%q,"cwd":"/repo","permission_mode":"auto","hook_event_name":"PermissionDenied","tool_name":"Bash","tool_input":{"command":"rm -rf build"},"tool_use_id":"t3","reason":"deletes files"}`
	hookForm       = `{"session_id":%q,"hook_event_name":"Elicitation","mcp_server_name":"tickets","message":"Which ticket?","mode":"form","requested_schema":{"type":"object","properties":{"ticket":{"type":"string"}},"required":["ticket"]}}`
	hookDone       = `{"session_id":%q,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_response":{}}`
)

// hooked is the process of a hook.
type hooked struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan int
}

// busyReports gives reports the time that they need on a busy machine.
const busyReports = "--report-time=10s"

func startHook(t *testing.T, url, agent, input string, args ...string) *hooked {
	t.Helper()
	return startHookWith(t, url, agent, input, nil, args...)
}

// startHookWith starts a hook with more variables in its environment.
func startHookWith(t *testing.T, url, agent, input string, env []string, args ...string) *hooked {
	t.Helper()
	args = append([]string{"hook", agent, busyReports}, args...)
	h := &hooked{cmd: exec.Command(rig.Binary(t), args...), done: make(chan int, 1)}
	h.cmd.Env = append(append(h.cmd.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken), env...)
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = strings.NewReader(input), &h.out, &h.err
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

func (h *hooked) exit(t *testing.T, want int) string {
	t.Helper()
	if code := await.Receive(t, "the end of the hook", h.done); code != want {
		t.Fatalf("exit code %d, want %d: %s%s", code, want, h.out.String(), h.err.String())
	}
	return h.out.String()
}

// TestHookAnswers checks the output of each kind of hook for each kind of
// response.
func TestHookAnswers(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack", "telegram")})
	url := r.Daemons[0].URL
	for name, c := range map[string]struct {
		agent, input, want string
		act                func(r *rig.Rig, a rig.Asked)
	}{
		"once": {"claude", hookPermission, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, func(r *rig.Rig, a rig.Asked) {
			r.Approve("ana", a.On("slack"))
		}},
		"always": {"claude", strings.Replace(hookPermission, `"command":"git push"`, `"command":"git push --tags"`, 1), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"git push:*"}],"behavior":"allow","destination":"localSettings"}]}}}`, func(r *rig.Rig, a rig.Asked) {
			r.Press("ana", a.On("slack"), "Always approve")
			ana := rig.Normal("slack", "Bash(git push:*) in this project")
			if text := r.Stated("slack", "U0ANA00001", a.On("slack").Channel); !strings.Contains(text, ana) {
				r.T.Errorf("the dialog does not say what always means: %s", text)
			}
			r.Decide("ana", a.On("telegram"), "Always approve")
		}},
		"question": {"claude", hookQuestions, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}],"answers":{"Which framework?":"Vue"}}}}`, func(r *rig.Rig, a rig.Asked) {
			r.Choose("ana", a.On("slack"), bridge.WidgetRadio, "Vue")
		}},
		"plan": {"claude", hookPlan, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Changes to the plan requested: smaller steps"}}`, func(r *rig.Rig, a rig.Asked) {
			r.Typed("ana", a.On("slack"), "Request changes", "smaller steps")
		}},
		"form": {"claude", hookForm, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"ticket":"T-7"}}}`, func(r *rig.Rig, a rig.Asked) {
			r.Typed("ana", a.On("slack"), "Answer", "T-7")
		}},
		"codex": {"codex", hookPermission, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Denied by ana: not now"}}}`, func(r *rig.Rig, a rig.Asked) {
			r.Typed("ana", a.On("slack"), "Deny with a reason", "not now")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sub := *r
			sub.T = t
			session := "hook-" + rand.Text()[:8]
			h := startHook(t, url, c.agent, fmt.Sprintf(c.input, session))
			c.act(&sub, sub.Card(session))
			if got := strings.TrimSpace(h.exit(t, 0)); got != c.want {
				t.Errorf("output\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Run("silence", func(t *testing.T) {
		h := startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookPermission, "silent"), "git push", "git tag", 1), "--timeout", "1s")
		if got := h.exit(t, 0); got != "{}\n" {
			t.Errorf("output after the timeout: %s", got)
		}
		h = startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookPermission, "silent2"), "git push", "git tag", 1), "--timeout", "1s", "--unanswered", "deny")
		if got := h.exit(t, 0); !strings.Contains(got, `"behavior":"deny"`) || !strings.Contains(got, "No person has denied it") {
			t.Errorf("output after the timeout: %s", got)
		}
	})
}

// TestHookAnsweredElsewhere checks that the cards close if the person answers
// at the terminal: the agent then ends its hook or reports that the tool ran.
func TestHookAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	t.Run("the hook is ended", func(t *testing.T) {
		sub := *r
		sub.T = t
		h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "ended"))
		a := sub.Card("ended")
		if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		a.Closed("in the terminal")
	})
	t.Run("the hook is killed, and the tool reported", func(t *testing.T) {
		sub := *r
		sub.T = t
		h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "killed"))
		a := sub.Card("killed")
		if err := h.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		a.Pending("telegram")
		startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookDone, "killed"), "git push", "git pull", 1)).exit(t, 0)
		a.Pending("telegram")
		if got := startHook(t, url, "claude", fmt.Sprintf(hookDone, "killed")).exit(t, 0); got != "{}\n" {
			t.Errorf("a report is answered with %s", got)
		}
		a.Closed("Approved in the terminal")
	})
	t.Run("the agent is killed", func(t *testing.T) {
		sub := *r
		sub.T = t
		h, end := hookOfAgent(t, url, fmt.Sprintf(hookPermission, "dead"))
		a := sub.Card("dead")
		end()
		a.Closed("Cancelled by", "the agent has ended")
		await.Receive(t, "the end of the hook", h.done)
	})
	t.Run("the agent dies as the answer arrives", func(t *testing.T) {
		sub := *r
		sub.T = t
		h, end := hookOfAgent(t, url, fmt.Sprintf(hookPermission, "late"))
		a := sub.Card("late")
		if err := h.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		sub.Eventually("the hook is stopped", func() bool {
			state, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(h.cmd.Process.Pid)).Output()
			return err == nil && strings.HasPrefix(string(state), "T")
		})
		sub.Approve("ana", a.On("telegram"))
		end()
		if err := h.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		await.Receive(t, "the end of the hook", h.done)
		if rec, err := sub.Agent.List(sub.Ctx, bridge.ListFilter{Session: "late"}); err != nil || len(rec.Items) != 1 || !rec.Items[0].Delivered.IsZero() {
			t.Errorf("an answer that no one read was delivered: %+v, %v", rec.Items, err)
		}
	})
	t.Run("an HTTP hook's connection ends", func(t *testing.T) {
		sub := *r
		sub.T = t
		ctx, hangUp := context.WithCancel(r.Ctx)
		defer hangUp()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := postHook(ctx, url, fmt.Sprintf(hookPermission, "http")); err == nil {
				t.Error("it was answered")
			}
		})
		a := sub.Card("http")
		hangUp()
		wg.Wait()
		a.Closed("Cancelled by")
	})
	t.Run("during the grace period", func(t *testing.T) {
		sub := *r
		sub.T = t
		before := len(sub.Sandbox.Chats("telegram")[0].Messages)
		h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "graceful"), "--grace", "1m")
		sub.Eventually("it is open", func() bool {
			page, err := sub.Agent.List(sub.Ctx, bridge.ListFilter{Session: "graceful", State: bridge.StatePending})
			return err == nil && len(page.Items) == 1
		})
		if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		sub.Eventually("it is withdrawn", func() bool {
			page, err := sub.Agent.List(sub.Ctx, bridge.ListFilter{Session: "graceful"})
			return err == nil && len(page.Items) == 1 && page.Items[0].State == bridge.StateCancelled
		})
		if after := len(sub.Sandbox.Chats("telegram")[0].Messages); after != before {
			t.Errorf("%d messages were posted", after-before)
		}
	})
}

// hookOfAgent starts a hook whose output a stand-in for an agent reads, until
// the agent is killed.
func hookOfAgent(t *testing.T, url, input string) (*hooked, func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	h := &hooked{cmd: exec.Command(rig.Binary(t), "hook", "claude"), done: make(chan int, 1)}
	h.cmd.Env = append(h.cmd.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken)
	h.cmd.Stdin, h.cmd.Stdout = strings.NewReader(input), w
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = h.cmd.Wait() // only its end counts
		h.done <- h.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { r.Close(); w.Close(); _ = h.cmd.Process.Kill() })
	return h, func() {
		r.Close()
		// A process that another test is starting still has the pipe.
		await.Until(t, "no process reads the output of the hook", func() bool {
			_, err := w.Write([]byte{'\n'})
			return errors.Is(err, syscall.EPIPE)
		})
	}
}

// TestReportsAreBrief checks that a hook that only reports does not delay its
// agent, even if the daemon is down or does not respond, and says so.
func TestReportsAreBrief(t *testing.T) {
	t.Parallel()
	hangs, _ := silentDaemon(t)
	for _, url := range []string{"http://127.0.0.1:9", hangs} {
		for _, event := range []string{
			fmt.Sprintf(hookDone, "s"), fmt.Sprintf(hookDone, "w"), `{"session_id":"s","hook_event_name":"Stop"}`, `{"session_id":"s","hook_event_name":"SessionEnd"}`,
			`{"session_id":"s","hook_event_name":"Notification","message":"Claude is waiting for your input","notification_type":"idle_prompt"}`,
			`{"session_id":"s","hook_event_name":"SessionStart"}`,
		} {
			args := []string{"--fail", "open"}
			if event == fmt.Sprintf(hookDone, "w") {
				args = []string{"--watch", "--report"}
			}
			h := startHook(t, url, "claude", event, append(args, "--report-time", hook.ReportTime.String())...)
			if out := h.exit(t, 0); out != "{}\n" {
				t.Errorf("%s, %s: %q, want {}", url, event, out)
			}
			if told := strings.Contains(event, "SessionStart") || strings.Contains(h.err.String(), "nod did not get the report"); !told {
				t.Errorf("%s, %s: nothing says that the daemon was not told: %q", url, event, h.err.String())
			}
		}
	}
}

// TestNotifications checks that people learn when Claude Code waits at its
// terminal, unless a card of the session says so already.
func TestNotifications(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	const idle = `{"session_id":%q,"cwd":"/repo","hook_event_name":"Notification","message":"Claude is waiting for your input","notification_type":"idle_prompt"}`
	startHook(t, url, "claude", fmt.Sprintf(idle, "idle"), "--fail", "open").exit(t, 0)
	notices := func(session string) int {
		page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: session})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, rec := range page.Items {
			if rec.Interaction.Kind == bridge.KindNotice {
				n++
			}
		}
		return n
	}
	r.Eventually("the notice", func() bool { return notices("idle") == 1 })
	startHook(t, url, "claude", fmt.Sprintf(hookPermission, "busy"))
	a := r.Card("busy")
	startHook(t, url, "claude", fmt.Sprintf(idle, "busy"), "--fail", "open").exit(t, 0)
	a.Pending("telegram")
	if n := notices("busy"); n != 0 {
		t.Errorf("%d notices next to a card that waits", n)
	}
}

func postHook(ctx context.Context, url, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/hooks/claude", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+rig.TestAgentToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

// TestHookOutlivesDaemon checks that an answer in Telegram reaches a hook whose
// daemon was killed with kill -9 and restarted in the meantime.
func TestHookOutlivesDaemon(t *testing.T) {
	t.Parallel()
	c := rig.NewCrash(t, "telegram")
	h := startHook(t, c.URL, "claude", fmt.Sprintf(hookPermission, "crash"))
	a := c.Card("crash")
	c.Restart()
	c.Press("ana", a.On("telegram"), "Run command")
	if got := h.exit(t, 0); !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf("it says %s", got)
	}
}

// TestHookWithoutDaemon checks that a hook without a daemon blocks the tool or
// lets it pass, as --fail requires, and reports what it did.
func TestHookWithoutDaemon(t *testing.T) {
	t.Parallel()
	// front returns a server in front of the daemon, with its statuses for calls,
	// /v1/keys and /healthz. 0 breaks the connection. Negative ones, and 200, come
	// from the daemon.
	front := func(call, keys, health int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			status, own := call, false
			switch r.URL.Path {
			case "/v1/keys":
				status = keys
			case "/healthz":
				status = health
			}
			switch {
			case status == 0:
				panic(http.ErrAbortHandler)
			case status < 0:
				status, own = -status, true
			}
			if own || status == http.StatusOK {
				w.Header().Set(bridge.HeaderDaemon, "test")
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "{}")
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	const nowhere = "http://127.0.0.1:9"
	const onlyOutage = "--fail open applies only if the daemon is unreachable"
	pre := fmt.Sprintf(hookQuestions, "s")
	for name, c := range map[string]struct {
		url, input, fail, word string
		code                   int
		out                    string
	}{
		"a tool is blocked":                    {nowhere, pre, "closed", "blocked (--fail closed)", 2, `"permissionDecision":"deny"`},
		"a tool passes":                        {nowhere, pre, "open", "continuing without nod (--fail open)", 0, "{}"},
		"a permission is left":                 {nowhere, fmt.Sprintf(hookPermission, "s"), "closed", "the terminal asks", 0, "{}"},
		"a permission passes":                  {nowhere, fmt.Sprintf(hookPermission, "s"), "open", "continuing without nod", 0, "{}"},
		"an unreadable input":                  {nowhere, "nonsense", "closed", "blocked", 2, `"decision":"block"`},
		"an unreadable input stays blocked":    {nowhere, "nonsense", "open", "blocked", 2, `"decision":"block"`},
		"a report never stops the agent":       {nowhere, fmt.Sprintf(hookDone, "s"), "closed", "nod did not get the report", 0, "{}"},
		"a call that a proxy refuses":          {front(413, 413, 413), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"a text that a firewall refuses":       {front(403, 200, 200), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"a text that breaks the connection":    {front(0, 200, 200), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"the same if a proxy hides the health": {front(0, 200, 403), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"the same if the health has an outage": {front(0, 200, 503), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"a call that gets 503":                 {front(503, 200, 200), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"a daemon that says no":                {front(-503, -403, 403), pre, "open", onlyOutage, 2, `"permissionDecision":"deny"`},
		"a proxy without a daemon":             {front(502, 502, 502), pre, "open", "continuing without nod (--fail open)", 0, "{}"},
		"the same with a hidden health":        {front(502, 502, 403), pre, "open", "continuing without nod (--fail open)", 0, "{}"},
		"a proxy without a route":              {front(404, 404, 404), pre, "open", "continuing without nod (--fail open)", 0, "{}"},
		"a front without its origin":           {front(530, 523, 530), pre, "open", "continuing without nod (--fail open)", 0, "{}"},
		"a probe that breaks the connection":   {front(503, 0, 404), pre, "open", "continuing without nod (--fail open)", 0, "{}"},
		"a daemon without Redis":               {front(-503, 200, -503), pre, "open", "continuing without nod (--fail open)", 0, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHook(t, c.url, "claude", c.input, "--patience", "100ms", "--fail", c.fail)
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
