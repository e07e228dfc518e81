package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// gatedCall is the input of a hook before a call of Bash, for a session and a
// command.
const gatedCall = `{"session_id":%q,"cwd":"/repo","hook_event_name":"PreToolUse","permission_mode":"bypassPermissions","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"t1"}`

// TestGate checks that people are asked about each call that a gate or a rule
// selects, that the agent handles every other call as it would without nod, and that
// nothing is stored then.
func TestGate(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		agent := c.Agents["ci"]
		agent.PerMinute = 100
		c.Agents["ci"] = agent
		c.Policy = []policy.Rule{
			{Name: "never", Command: []string{"mkfs *"}, Then: "deny"},
			{Name: "publish", Command: []string{"npm publish *"}, Then: "ask"},
			{Name: "git", Command: []string{"git *"}, Then: "allow"},
		}
	}})
	url := r.Daemons[0].URL
	if _, err := r.Agent.StopSession(r.Ctx, "", "stopped"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command, gate, press string
		code                 int
		want                 string
	}{
		"selected":            {"git push", "Bash(git push *)", "Run command", 0, "allow"},
		"denied":              {"git push", "Bash(git push *)", "Deny", 0, "deny"},
		"another spelling":    {"cd x && env A=1 sh -c 'git -C . push'", "Bash(git push *)", "Deny", 0, "deny"},
		"a rule asks":         {"npm publish", "Bash(git push *)", "Deny", 0, "deny"},
		"a rule denies":       {"mkfs /dev/sda", "Bash(git push *)", "", 0, "deny"},
		"not selected":        {"make", "Bash(git push *)", "", 0, "left"},
		"allowed by a rule":   {"git status", "Bash(git push *)", "", 0, "left"},
		"every call, allowed": {"git push", "", "", 0, "allow"},
		"every call":          {"make", "", "Deny", 0, "deny"},
		"stopped":             {"make", "Bash(git push *)", "", 0, "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *r
			sub.T = t
			session := strings.ReplaceAll(name, " ", "-")
			args := []string{"--gate", c.gate}
			if c.gate == "" {
				args = nil
			}
			h := startHook(t, url, "claude", fmt.Sprintf(gatedCall, session, c.command), args...)
			if c.press != "" {
				sub.Press("ana", sub.Card(session).On("telegram"), c.press)
			}
			if got := decisionOf(t, []byte(h.exit(t, c.code))); got != c.want {
				t.Errorf("%s, want %s: %s", got, c.want, h.out.String()+h.err.String())
			}
			stored := 1
			if c.want == "left" {
				stored = 0
			}
			if page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: session}); err != nil || len(page.Items) != stored {
				t.Errorf("%+v, %v", page.Items, err)
			}
		})
	}
}

// TestGateFailsClosed checks that a gate denies also the calls that it would not
// select, if the daemon does not say so about exactly this call.
func TestGateFailsClosed(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	input := fmt.Sprintf(gatedCall, "s", "git status")
	gate := []string{"--gate", "Bash(git push *)", "--patience", "50ms"}
	for _, f := range hookFailures() {
		if testing.Short() && f.name != "no opinion" && f.name != "no daemon" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			in, url := input, "http://127.0.0.1:9"
			if f.input != nil {
				in = f.input(in)
			}
			if f.daemon != nil {
				s := httptest.NewServer(f.daemon(t, "claude", "PreToolUse", in))
				t.Cleanup(s.Close)
				url = s.URL
			}
			h := startHookWith(t, url, "claude", in, f.env, append(f.args, gate...)...)
			code := <-h.done
			judgeHook(t, "PreToolUse", f.seen, false, h.out.String(), code)
		})
	}
	// The evidence for one call does not count for another.
	req, err := http.NewRequestWithContext(r.Ctx, http.MethodPost, r.Daemons[0].URL+"/v1/hooks/claude?wait=1s&gate=Bash(git+push+*)", strings.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+rig.TestAgentToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || strings.TrimSpace(string(body)) != "{}" {
		t.Fatalf("%s, %v", body, err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"Nod-Receipt", "Nod-Answer"} {
			w.Header().Set(name, resp.Header.Get(name))
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	if got := decisionOf(t, []byte(startHook(t, s.URL, "claude", input, gate...).exit(t, 0))); got != "left" {
		t.Errorf("the same call: %s", got)
	}
	for _, other := range []string{fmt.Sprintf(gatedCall, "s", "git push"), fmt.Sprintf(gatedCall, "s", "git status -s")} {
		if got := decisionOf(t, []byte(startHook(t, s.URL, "claude", other, gate...).exit(t, 2))); got != "deny" {
			t.Errorf("another call: %s", got)
		}
	}
	if got := decisionOf(t, []byte(startHook(t, s.URL, "claude", input, "--patience", "50ms").exit(t, 2))); got != "deny" {
		t.Errorf("a gate for every call: %s", got)
	}
	if got := decisionOf(t, []byte(startHook(t, s.URL, "claude", input, "--gate", "Bash(git push").exit(t, 2))); got != "deny" {
		t.Errorf("a gate that cannot be read: %s", got)
	}
}
