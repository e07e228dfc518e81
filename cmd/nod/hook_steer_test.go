package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// steerable opens a request in a session, so that people can send it messages.
// It returns the client of a person.
func steerable(r *rig.Rig, session string) *client.Client {
	r.T.Helper()
	r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "May I?", Session: session, Approval: &bridge.Approval{Tool: "Bash"}}})
	return client.New(r.Daemons[0].URL, rig.AnaToken, nil)
}

// TestHookSteer checks what each hook does with a message, and that a message
// waits when no agent would read it.
func TestHookSteer(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	ana := steerable(r, "s1")
	const input = `{"session_id":"s1","hook_event_name":%q%s}`
	watch := func(event, more string) string {
		t.Helper()
		return strings.TrimSpace(startHook(t, r.Daemons[0].URL, "claude", fmt.Sprintf(input, event, more), "--watch").exit(t, 0))
	}
	const said = `ana wrote at [0-9:]+ UTC: 'turn <left>' \(message m-[0-9a-f]+\)`
	for _, c := range []struct{ event, more, want string }{
		{"PostToolUse", "", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"` + said + `"}}`},
		{"PostToolUseFailure", "", `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"` + said + `"}}`},
		{"UserPromptSubmit", "", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"` + said + `"}}`},
		{"Stop", `,"stop_hook_active":false`, `{"decision":"block","reason":"` + said + `"}`},
		{"PostToolUse", `,"agent_id":"a1"`, "{}"}, // a subagent
		{"PreToolUse", "", "{}"},
		{"SessionStart", "", "{}"},
	} {
		m, err := ana.Steer(t.Context(), "", "s1", "turn <left>")
		if err != nil {
			t.Fatal(err)
		}
		got := watch(c.event, c.more)
		if !regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(c.want), regexp.QuoteMeta(said), said) + "$").MatchString(got) {
			t.Errorf("%s%s prints %s", c.event, c.more, got)
		}
		if m, err = ana.Steering(t.Context(), "s1", m.ID); err != nil || (m.Fate == bridge.FateDelivered) != (c.want != "{}") {
			t.Errorf("%s%s: the message is %s, %v", c.event, c.more, m.Fate, err)
		}
	}
	if got := watch("PostToolUse", ""); strings.Count(got, "turn <left>") != 3 {
		t.Errorf("then, the agent gets %s", got)
	}
	if got := watch("PostToolUse", ""); got != "{}" {
		t.Errorf("at last, the agent gets %s", got)
	}
}

// TestWatchReports checks that one process reports a tool call and passes on a
// message, and that without --report it reports nothing, as before.
func TestWatchReports(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	ana := client.New(url, rig.AnaToken, nil)
	h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, "s1"))
	a := r.Card("s1")
	r.Approve("ana", a.On("telegram"))
	h.exit(t, 0)
	a.Closed("sent to")
	done := fmt.Sprintf(hookDone, "s1")
	if got := startHook(t, url, "claude", done, "--watch").exit(t, 0); got != "{}\n" {
		t.Errorf("without a message: %s", got)
	}
	if page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: "s1"}); err != nil || page.Items[0].Completion != nil {
		t.Errorf("without --report: %+v, %v", page.Items, err)
	}
	if _, err := ana.Steer(t.Context(), "", "s1", "turn left"); err != nil {
		t.Fatal(err)
	}
	if got := startHook(t, url, "claude", done, "--watch", "--report").exit(t, 0); !strings.Contains(got, "turn left") {
		t.Errorf("with a message: %s", got)
	}
	a.Closed("ran it")
	if got := startHook(t, url, "claude", strings.Replace(done, "PostToolUse", "PreToolUse", 1), "--watch", "--report").exit(t, 0); got != "{}\n" {
		t.Errorf("before a call: %s", got)
	}
}

// TestHookSteerExactlyOnce checks that an agent reads each message once and in
// order, although its hooks are killed at random times and the daemon restarts.
// As Claude Code does, it reads the output of a hook that was killed, and writes
// it to the transcript.
func TestHookSteerExactlyOnce(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	ana := steerable(r, "s1")
	url := r.Daemons[0].URL
	transcript := filepath.Join(t.TempDir(), "t.jsonl")
	const count = 40
	var sent []string
	write := func(n int) {
		m, err := ana.Steer(t.Context(), "", "s1", fmt.Sprintf("number %d.", n))
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, m.ID)
		if n == count/2 {
			r.Daemons[len(r.Daemons)-1].Stop()
			r.Start(rig.ListenOn(t, strings.TrimPrefix(url, "http://")))
		}
	}
	in := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PostToolUse","transcript_path":%q}`, transcript)
	number := regexp.MustCompile(`number (\d+)\.`)
	var seen []string
	random, kills := seed.Rand(t), 0
	progress := time.Now()
	for n := 0; len(seen) < count; n++ {
		if time.Since(progress) > await.Limit {
			t.Fatalf("after %d hooks, the agent has read %v", n, seen)
		}
		var writes sync.WaitGroup
		if n < count {
			writes.Go(func() { write(n) })
		}
		h := &exec.Cmd{
			Path: rig.Binary(t), Args: []string{"nod", "hook", "claude", "--watch", "--patience", "400ms"}, Stdin: strings.NewReader(in),
			Env: append(os.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken),
		}
		pipe, err := h.StdoutPipe()
		if err != nil || h.Start() != nil {
			t.Fatal("the hook does not start", err)
		}
		how := random.IntN(3)
		if how == 0 {
			time.AfterFunc(time.Duration(random.IntN(50))*time.Millisecond, func() { _ = h.Process.Kill() })
		}
		out := bufio.NewReader(pipe)
		line, _ := out.ReadString('\n') // empty if the hook was killed
		if how == 1 {
			_ = h.Process.Kill() // between the output and the acknowledgment
		}
		if h.Wait() != nil {
			kills++
		}
		writes.Wait()
		for _, m := range number.FindAllStringSubmatch(line, -1) {
			progress = time.Now()
			seen = append(seen, m[1])
		}
		f, err := os.OpenFile(transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		entry, _ := json.Marshal(map[string]string{"stdout": line})
		_, err = f.Write(append(entry, '\n'))
		if f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for n, got := range seen {
		if got != fmt.Sprint(n) {
			t.Fatalf("the agent reads message %s as number %d: %v", got, n, seen)
		}
	}
	if len(seen) != count {
		t.Errorf("the agent reads %d of %d messages", len(seen), count)
	}
	for _, id := range sent { // what a hook that was killed has reserved is free a moment later
		r.Eventually("all are delivered", func() bool {
			m, err := ana.Steering(t.Context(), "s1", id)
			if err == nil && m.Fate == bridge.FateDelivered {
				return true
			}
			if got := strings.TrimSpace(startHook(t, url, "claude", in, "--watch").exit(t, 0)); got != "{}" {
				t.Fatalf("at last, the agent gets %s", got)
			}
			return false
		})
	}
	t.Logf("%d hooks killed", kills)
}
