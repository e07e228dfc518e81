package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// hookEvents holds the input of every kind of hook.
var hookEvents = []struct{ agent, event, input string }{
	{"claude", "PreToolUse", `{"session_id":"s","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t1"}`},
	{"claude", "PreToolUse", fmt.Sprintf(hookQuestions, "s")},
	{"claude", "PreToolUse", fmt.Sprintf(hookPlan, "s")},
	{"claude", "PermissionRequest", fmt.Sprintf(hookPermission, "s")},
	{"claude", "Elicitation", fmt.Sprintf(hookForm, "s")},
	{"claude", "PostToolUse", fmt.Sprintf(hookDone, "s")},
	{"codex", "PreToolUse", `{"session_id":"s","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t1"}`},
	{"codex", "PermissionRequest", fmt.Sprintf(hookPermission, "s")},
	{"codex", "PostToolUse", fmt.Sprintf(hookDone, "s")},
}

// approvals returns the answers of a forged daemon that approves everything.
func approvals(event string) []string {
	return []string{
		`{"hookSpecificOutput":{"hookEventName":"` + event + `","permissionDecision":"allow","decision":{"behavior":"allow"},"action":"accept"}}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`,
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","behavior":"allow"}}}`,
		`{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"ticket":"T-1"}}}`,
		`{"decision":"approve"}`,
	}
}

// deniedReceipt returns a receipt, as a daemon writes it, for a denial of
// exactly the request of a hook.
func deniedReceipt(t *testing.T, agent, input string) string {
	t.Helper()
	var tr dialect.Translation
	var err error
	if agent == "codex" {
		tr, err = codex.Hook([]byte(input), false)
	} else {
		tr, err = claudecode.Hook([]byte(input), claudecode.AskLocally)
	}
	if err != nil || len(tr.Exchanges) == 0 {
		return "e30.e30.e30"
	}
	digest, err := proof.DigestAsSent(tr.Exchanges[0].Request.Ask)
	if err != nil {
		return "e30.e30.e30" // not a request that a daemon accepts
	}
	payload, err := json.Marshal(proof.Receipt{ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Digest: digest, State: bridge.StateDenied, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".e30"
}

// hookFailure is one way in which a hook can fail.
type hookFailure struct {
	name string
	// input changes the hook's input. If nil, the input stays the same.
	input func(string) string
	// daemon returns the handler of a daemon. If nil, there is no daemon.
	daemon  func(t *testing.T, agent, event, input string) http.HandlerFunc
	args    []string
	env     []string
	seen    bool // the event can be read despite the failure
	reports bool // the hooks that only report fail too
}

// left reports whether the agent's own terminal decides after the failure: its
// dialog stays open. A call at a gate is denied, because no daemon says that its session is
// not stopped.
func (f hookFailure) left(event string) bool { return event == "PermissionRequest" && f.seen }

func answerWith(status int, body string) func(*testing.T, string, string, string) http.HandlerFunc {
	return func(*testing.T, string, string, string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
}

func replaced(from, to string) func(string) string {
	return func(s string) string { return strings.Replace(s, from, to, 1) }
}

func hookFailures() []hookFailure {
	always := func(s string) func(string) string { return func(string) string { return s } }
	out := []hookFailure{
		{name: "no input", input: always("")},
		{name: "no JSON", input: always("nonsense")},
		{name: "an array", input: func(s string) string { return "[" + s + "]" }, seen: true, reports: true},
		{name: "null", input: always("null")},
		{name: "cut off", input: func(s string) string { return s[:len(s)-1] }, seen: true, reports: true},
		{name: "two inputs", input: func(s string) string { return s + s }, seen: true, reports: true},
		{name: "the event twice", input: replaced(`"hook_event_name"`, `"hook_event_name":"SessionStart","hook_event_name"`)},
		{name: "the event's member in capitals", input: replaced(`"hook_event_name"`, `"HOOK_EVENT_NAME"`)},
		{name: "an unknown event", input: replaced(`"hook_event_name":"`, `"hook_event_name":"x`)},
		{name: "an event in lower case", input: func(s string) string {
			n := strings.Index(s, `"hook_event_name":"`) + len(`"hook_event_name":"`)
			return s[:n] + strings.ToLower(s[n:n+1]) + s[n+1:]
		}},
		{name: "a member twice", input: replaced(`"session_id":`, `"session_id":"x","session_id":`), seen: true, reports: true},
		{name: "half a surrogate pair", input: replaced(`"s"`, `"\ud800"`), seen: true, reports: true},
		{name: "invalid UTF-8", input: replaced(`"s"`, "\"\xff\""), seen: true, reports: true},
		{name: "too deep", input: replaced(`{`, `{"x":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+","), seen: true, reports: true},
		{name: "too long", input: replaced(`{`, `{"x":"`+strings.Repeat("x", 2<<20)+`",`), seen: true, reports: true},
		{name: "no daemon", seen: true, reports: true},
		{name: "no token", env: []string{"NOD_TOKEN="}, seen: true, reports: true},
		{name: "an invalid address", env: []string{"NOD_URL=:nonsense"}, seen: true, reports: true},
		{name: "an unknown flag", args: []string{"--tiemout", "1h"}, seen: true, reports: true},
		{name: "an extra argument", args: []string{"PreToolUse"}, seen: true, reports: true},
		{name: "an unknown --fail", args: []string{"--fail", "opne"}, seen: true, reports: true},
		{name: "error 500", daemon: answerWith(500, `{"error":{"code":"internal","message":"x"}}`), seen: true, reports: true},
		{name: "error 401", daemon: answerWith(401, `{"error":{"code":"unauthorized","message":"x"}}`), seen: true, reports: true},
		{name: "a redirect", daemon: answerWith(302, `{}`), seen: true, reports: true},
		{name: "a page", daemon: answerWith(200, `<html>ok</html>`), seen: true, reports: true},
		{name: "an empty answer", daemon: answerWith(200, ``), seen: true, reports: true},
		{name: "an array as answer", daemon: answerWith(200, `[]`), seen: true, reports: true},
		{name: "two answers", daemon: answerWith(200, "{}\n{}"), seen: true, reports: true},
		{name: "an invalid list", daemon: answerWith(202, `{"items":[{"id":1,"id":2}]}`), seen: true, reports: true},
		{name: "a connection that breaks", seen: true, reports: true, daemon: func(*testing.T, string, string, string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, `{"hookSpecificOutput":`)
			}
		}},
		{name: "no opinion", daemon: answerWith(200, `{}`), seen: true},
	}
	for n := range approvals("") {
		out = append(out, hookFailure{name: fmt.Sprintf("yes %d without a receipt", n), seen: true, reports: true, daemon: func(_ *testing.T, _, event, _ string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, approvals(event)[n]) }
		}}, hookFailure{name: fmt.Sprintf("yes %d with the receipt of a denial", n), seen: true, reports: true, daemon: func(t *testing.T, agent, event, input string) http.HandlerFunc {
			token := deniedReceipt(t, agent, input)
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Add("Nod-Receipt", token)
				_, _ = io.WriteString(w, approvals(event)[n])
			}
		}})
	}
	return out
}

// judgeHook checks that no version of the agent takes the output and exit code
// of a failed hook for an approval.
func judgeHook(t *testing.T, event string, seen, left bool, out string, code int) {
	t.Helper()
	var o struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Permit   struct {
				Behavior string `json:"behavior"`
				Message  string `json:"message"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "{") || strictjson.DecodeKnown([]byte(out), &o) != nil {
		t.Fatalf("not exactly one JSON object: %q", out)
	}
	ok := false
	switch {
	case !seen:
		ok = o.Decision == "block" && o.Reason != "" && code == 2
	case left && event == "PermissionRequest":
		ok = out == "{}\n" && code == 0
	case event == "PreToolUse":
		ok = o.Specific.Event == event && o.Specific.Decision == "deny" && o.Specific.Reason != "" && code == 2
	case event == "PermissionRequest":
		ok = o.Specific.Event == event && o.Specific.Permit.Behavior == "deny" && o.Specific.Permit.Message != "" && code == 0
	default: // the terminal asks, or nothing needs a decision
		ok = out == "{}\n" && (code == 1 || code == 0 && event == "PostToolUse")
	}
	if !ok {
		t.Errorf("exit code %d and %s", code, out)
	}
}

// TestHooksFailClosed runs every hook with every failure. None of them allows
// anything, and each fails in the form that its agent documents.
func TestHooksFailClosed(t *testing.T) {
	t.Parallel()
	for n, e := range hookEvents {
		for _, f := range hookFailures() {
			if e.event == "PostToolUse" && f.seen && !f.reports {
				continue
			}
			if f.name == "no opinion" && e.event != "PreToolUse" {
				continue // in these events, it means that the terminal asks
			}
			if testing.Short() && n%3 > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %d/%s", e.agent, e.event, n, f.name), func(t *testing.T) {
				t.Parallel()
				input, url := e.input, "http://127.0.0.1:9"
				if f.input != nil {
					input = f.input(input)
				}
				if f.daemon != nil {
					s := httptest.NewServer(f.daemon(t, e.agent, e.event, input))
					t.Cleanup(s.Close)
					url = s.URL
				}
				cmd := exec.Command(rig.Binary(t), append([]string{"hook", e.agent, "--patience", "50ms"}, f.args...)...)
				cmd.Env = append(append(cmd.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken), f.env...)
				var out, errs bytes.Buffer
				cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
				_ = cmd.Run() // the exit code is checked instead
				judgeHook(t, e.event, f.seen, f.left(e.event), out.String(), cmd.ProcessState.ExitCode())
				if report := e.event == "PostToolUse"; !report && !strings.Contains(errs.String(), "nod") {
					t.Errorf("stderr: %q", errs.String())
				}
			})
		}
	}
}

// silentDaemon starts a server that accepts connections and never answers.
func silentDaemon(t *testing.T) (string, chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked := make(chan struct{}, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			asked <- struct{}{}
		}
	}()
	return "http://" + l.Addr().String(), asked
}

// TestHookEndedFromOutside checks the output of a hook that times out or gets a
// signal, and the exit code of a hook whose output no one reads.
func TestHookEndedFromOutside(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, input, url string, stdout, stderr io.Writer) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(rig.Binary(t), "hook", "claude", "--patience", "50ms")
		cmd.Env = append(cmd.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), stdout, stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd
	}
	for n, e := range hookEvents[:5] {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			t.Run(e.event+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				url, asked := silentDaemon(t)
				var out, errs bytes.Buffer
				cmd := start(t, e.input, url, &out, &errs)
				<-asked
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				judgeHook(t, e.event, true, e.event == "PermissionRequest", out.String(), cmd.ProcessState.ExitCode())
				if said := errs.String(); strings.Contains(out.String()+said, "context") || !strings.Contains(said, "nod was interrupted") {
					t.Errorf("it says %s%s", out.String(), said)
				}
			})
		}
		t.Run(e.event+" on a daemon that hangs", func(t *testing.T) {
			if n > 0 {
				level.CI(t) // the test takes 10 s
			}
			t.Parallel()
			url, _ := silentDaemon(t)
			var out bytes.Buffer
			cmd := start(t, e.input, url, &out, io.Discard)
			_ = cmd.Wait() // the exit code is checked instead
			judgeHook(t, e.event, true, e.event == "PermissionRequest", out.String(), cmd.ProcessState.ExitCode())
		})
		t.Run(e.event+" without a reader", func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			cmd := start(t, e.input, "http://127.0.0.1:9", w, io.Discard)
			w.Close()
			_ = cmd.Wait()
			want := 2
			if e.event == "Elicitation" {
				want = 1
			}
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}
		})
	}
}

// bomb is an input that panics when it is read.
type bomb struct{ said io.Reader }

func (b bomb) Read(p []byte) (int, error) {
	if n, err := b.said.Read(p); err == nil {
		return n, nil
	}
	panic("boom")
}

// TestHookPanic checks that a hook that panics blocks.
func TestHookPanic(t *testing.T) {
	t.Parallel()
	for _, e := range hookEvents {
		var out, errs bytes.Buffer
		code := Run([]string{"hook", e.agent}, bomb{strings.NewReader("")}, &out, &errs)
		judgeHook(t, e.event, false, false, out.String(), code)
	}
}

// FuzzHook checks that a hook that cannot ask anyone never allows a tool, and
// never abstains for an event that gates a tool.
func FuzzHook(f *testing.F) {
	for _, e := range hookEvents {
		for _, failure := range hookFailures() {
			if failure.input != nil && len(failure.input(e.input)) < 10_000 {
				f.Add(e.agent == "codex", failure.input(e.input))
			}
		}
	}
	f.Setenv("NOD_URL", ":nowhere")
	f.Setenv("NOD_TOKEN", rig.TestAgentToken)
	f.Fuzz(func(t *testing.T, isCodex bool, input string) {
		agent := "claude"
		if isCodex {
			agent = "codex"
		}
		var out bytes.Buffer
		code := Run([]string{"hook", agent}, strings.NewReader(input), &out, io.Discard)
		var o map[string]any
		if strings.Count(out.String(), "\n") != 1 || json.Unmarshal(out.Bytes(), &o) != nil {
			t.Fatalf("%q: not exactly one JSON object: %q", input, out.String())
		}
		said := strings.ReplaceAll(strings.ToLower(out.String()), " ", "")
		for _, yes := range []string{`"allow"`, `"approve"`, `"accept"`} {
			if strings.Contains(said, yes) {
				t.Fatalf("%q: %s", input, out.String())
			}
		}
		var in map[string]any                                                     // of duplicate members, this reader takes the last
		asks := strings.Contains(said, `"permissiondecision":"ask"`) && code == 0 // Claude Code asks at the terminal, or denies
		if json.Unmarshal([]byte(input), &in) == nil && in["hook_event_name"] == "PreToolUse" && (!asks && code != 2 || len(o) == 0) {
			t.Fatalf("%q: exit code %d and %s", input, code, out.String())
		}
	})
}
