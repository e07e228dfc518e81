package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/cmd/nod/hook"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// hookRun holds the exit code and output of a hook that has ended.
type hookRun struct {
	code     int
	timedOut bool
	out      string
}

// effect is the fate of a tool call after its PreToolUse hook.
type effect string

const (
	runsTool  effect = "runs"
	blocks    effect = "blocks"
	asksLocal effect = "asks at the terminal"
)

// claudeStub applies the rules of Claude Code 2.1.330 for a PreToolUse hook
// with onFailure "block", as they were measured with the program itself. The
// call is one that Claude Code would allow without the hook.
type claudeStub struct {
	mode     string
	terminal bool // otherwise claude -p
	blocking bool // onFailure is known: version 2.1.295 or later
}

func (c claudeStub) judge(h hookRun) effect {
	failed := func() effect {
		if c.blocking {
			return blocks
		}
		return runsTool
	}
	text := strings.TrimSpace(h.out)
	object := strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}")
	var o struct {
		Specific struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	valid := object && json.Unmarshal([]byte(text), &o) == nil
	switch {
	case h.timedOut:
		return failed()
	case h.code == hook.Blocks, valid && o.Specific.Decision == "deny":
		return blocks
	case h.code != 0, object && !valid:
		return failed()
	case !valid: // Claude Code takes plain text, or none, as no decision
		return runsTool
	}
	switch d := o.Specific.Decision; {
	case d == "" && o.Specific.Event == "" || d == "allow":
		return runsTool
	case d == "ask" && c.terminal:
		return asksLocal
	case d == "ask":
		return blocks
	}
	return failed()
}

// randomFailure runs the hook for a gated call in one of the ways in which no
// person says yes, and returns what the agent sees.
func randomFailure(t *testing.T, r *rand.Rand, url, mode string) (string, hookRun) {
	t.Helper()
	input := fmt.Sprintf(`{"session_id":"s%d","cwd":"/repo","permission_mode":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t%d"}`, r.IntN(9), mode, r.IntN(9))
	args := []string{"hook", "claude", "--patience", "1ms", "--timeout", "1m", "--url", url}
	name := "the daemon fails"
	switch r.IntN(8) {
	case 0:
		name, args[len(args)-1] = "no daemon", "http://127.0.0.1:9"
	case 1:
		name, input = "the input is cut", input[:r.IntN(len(input))]
	case 2:
		n := r.IntN(len(input))
		name, input = "a byte of the input is wrong", input[:n]+string(rune(r.IntN(256)))+input[n+1:]
	case 3:
		all := [][]string{{"--fail", "opne"}, {"--unanswered", "x"}, {"--nope"}, {"x"}, {"--url", ":x"}, {"--timeout", "-1s"}}
		name, args = "the flags are wrong", append(args, all[r.IntN(len(all))]...)
	}
	var out bytes.Buffer
	h := hookRun{code: Run(args, strings.NewReader(input), &out, io.Discard), out: out.String()}
	switch r.IntN(6) {
	case 0:
		name, h.code, h.out = name+", and the hook is killed", 137, h.out[:r.IntN(len(h.out)+1)]
	case 1:
		name, h.timedOut, h.out = name+", and the hook takes too long", true, ""
	case 2:
		name, h = "the program is missing", hookRun{code: 127}
	}
	return name, h
}

// failingDaemon answers everything but an approval that verifies. Its answers
// depend on the seed and on the number of the request, which the test may set.
func failingDaemon(t *testing.T, seeded uint64, number *atomic.Int64) string {
	t.Helper()
	answers := slices.Concat(approvals("PreToolUse"), []string{"", "{}", "[]", "<html>", "{", `{"hookSpecificOutput":{}}`, `{"items":[]}`, "null", "yes"})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r := seed.Own(seeded, fmt.Sprint("request ", number.Add(1)))
		if r.IntN(6) == 0 {
			panic(http.ErrAbortHandler)
		}
		if r.IntN(3) == 0 {
			w.Header().Add("Nod-Receipt", deniedReceipt(t, "claude", string(body)))
		}
		w.WriteHeader([]int{200, 200, 200, 202, 301, 401, 404, 429, 500, 503}[r.IntN(10)])
		_, _ = io.WriteString(w, answers[r.IntN(len(answers))]) // the hook may be gone
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestGateNeverOpens checks that no failure lets a gated tool call run without
// a yes, in any permission mode, and that a call is left to the terminal only
// where one asks. NOD_FAILURES sets the number of failures.
func TestGateNeverOpens(t *testing.T) { //nolint:paralleltest // it sets the environment
	t.Setenv("NOD_TOKEN", rig.TestAgentToken)
	seeded := seed.Of(t)
	r := seed.Own(seeded, "hook")
	var number atomic.Int64
	url := failingDaemon(t, seeded, &number)
	failures, err := strconv.Atoi(os.Getenv("NOD_FAILURES"))
	if err != nil {
		failures = 150
	}
	modes := []string{"default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "unheard-of"}
	seen := map[string]int{}
	for n := range failures {
		c := claudeStub{mode: modes[r.IntN(len(modes))], terminal: r.IntN(2) == 0, blocking: true}
		number.Store(int64(n) * 1000) // the requests of a hook may come while the next one begins
		name, h := randomFailure(t, r, url, c.mode)
		got := c.judge(h)
		seen[name+": "+string(got)]++
		if got == runsTool {
			t.Fatalf("failure %d, %s, %+v: the tool runs after %+v", n, name, c, h)
		}
		readable := !strings.Contains(name, "input")
		if got == asksLocal && readable && !slices.Contains(modes[:3], c.mode) {
			t.Fatalf("failure %d, %s, %+v: the terminal would have to ask after %+v", n, name, c, h)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%5d  %s", seen[name], name)
	}
}

// TestStubIsClaude checks the stub against the measured results.
func TestStubIsClaude(t *testing.T) {
	t.Parallel()
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	allow, ask := strings.Replace(deny, "deny", "allow", 1), strings.Replace(deny, "deny", "ask", 1)
	now, before := claudeStub{blocking: true}, claudeStub{}
	for name, c := range map[string]struct {
		run            hookRun
		later, earlier effect
	}{
		"missing":           {hookRun{code: 127}, blocks, runsTool},
		"exit 1":            {hookRun{code: 1}, blocks, runsTool},
		"killed":            {hookRun{code: 137}, blocks, runsTool},
		"too late":          {hookRun{timedOut: true}, blocks, runsTool},
		"no JSON":           {hookRun{out: "{not json"}, runsTool, runsTool},
		"text":              {hookRun{out: "hello"}, runsTool, runsTool},
		"a line, then deny": {hookRun{out: "log\n" + deny}, runsTool, runsTool},
		"broken object":     {hookRun{out: `{"a":{"no"}`}, blocks, runsTool},
		"unknown decision":  {hookRun{out: strings.Replace(deny, "deny", "maybe", 1)}, blocks, runsTool},
		"nothing":           {hookRun{}, runsTool, runsTool},
		"deny and exit 1":   {hookRun{code: 1, out: deny}, blocks, blocks},
		"allow and exit 1":  {hookRun{code: 1, out: allow}, blocks, runsTool},
		"exit 2":            {hookRun{code: 2}, blocks, blocks},
		"ask without one":   {hookRun{out: ask}, blocks, blocks},
	} {
		if got := now.judge(c.run); got != c.later {
			t.Errorf("%s: %s, want %s", name, got, c.later)
		}
		if got := before.judge(c.run); got != c.earlier {
			t.Errorf("%s in an earlier version: %s, want %s", name, got, c.earlier)
		}
	}
}
