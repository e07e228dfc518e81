package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

// TestFailed checks that neither a failure nor a stopped session is consent, and
// that each output has the form of its event.
func TestFailed(t *testing.T) {
	t.Parallel()
	const gate, dialog, unknown = `"permissionDecision":"deny"`, `"behavior":"deny"`, `"decision":"block"`
	stop := bridge.Stop{Session: "s", By: bridge.Actor{Person: "ana"}, At: time.Unix(1e9, 0)}
	for event, want := range map[string]string{
		"PreToolUse": gate, "PermissionRequest": dialog, "Elicitation": "{}", "PostToolUse": "{}", "SessionStart": "{}", "NewEvent": unknown,
	} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat("é", 20_000)
			for name, out := range map[string]any{
				"failed": claudecode.Failed(event, long), "stopped": claudecode.Stopped(event, stop),
				"unasked": claudecode.Unasked(event, dialect.Unasked{Gate: true}, long),
			} {
				raw, err := dialect.Encode(out)
				if err != nil || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "allow") {
					t.Errorf("%s: %.200s, %v, want %s", name, raw, err, want)
				}
				if ends := strings.Contains(string(raw), `"continue":false`); ends != (name == "stopped" && event == "PreToolUse") {
					t.Errorf("%s: %.200s ends the turn: %t", name, raw, ends)
				}
				if n := strings.Count(string(raw), "é"); n > 10_000 {
					t.Errorf("%s: a text has %d characters, more than Claude Code keeps", name, n)
				}
				if event == "PreToolUse" || event == "PermissionRequest" {
					if err := claudecode.CheckOutput(event, raw); err != nil {
						t.Errorf("%s: %.200s does not have the form of the event: %v", name, raw, err)
					}
				}
				if claudecode.LeavesToTerminal(out) {
					t.Errorf("%s: it is left to the terminal", name)
				}
			}
		})
	}
	if out := claudecode.Unasked("PreToolUse", dialect.Unasked{Gate: true, Unshown: true, Attended: true}, "no card"); !claudecode.LeavesToTerminal(out) {
		t.Errorf("what no card can show is not left to the terminal: %+v", out)
	}
}

// TestCheckOutput checks that an output which Claude Code could read in another way
// is refused.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	const gate = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	for name, x := range map[string]struct {
		event, out string
		valid      bool
	}{
		"a gate":           {"PreToolUse", gate, true},
		"a gate that ends": {"PreToolUse", `{"continue":false,"stopReason":"over",` + gate[1:], true},
		"a dialog":         {"PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, true},
		"an elicitation":   {"Elicitation", `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}`, true},
		"another event":    {"PermissionRequest", gate, false},
		"no event":         {"PreToolUse", `{}`, false},
		"an unknown field": {"PreToolUse", `{"decision":"approve",` + gate[1:], false},
		"an unknown inner": {"PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","permissionDecision":"allow","decision":{"behavior":"deny"}}}`, false},
		"no decision":      {"PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`, false},
		"another decision": {"PreToolUse", strings.Replace(gate, "deny", "defer", 1), false},
		"two decisions":    {"PreToolUse", strings.Replace(gate, `"permissionDecision"`, `"permissionDecision":"allow","permissionDecision"`, 1), false},
		"no JSON":          {"PreToolUse", `<html>`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := claudecode.CheckOutput(x.event, []byte(x.out)); (err == nil) != x.valid || err != nil && bridge.ErrorCode(err) != bridge.CodeInvalid {
				t.Errorf("%s: %v, valid is %t", x.out, err, x.valid)
			}
		})
	}
}

// TestAttended checks when Claude Code asks a person at the terminal.
func TestAttended(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		event, entrypoint string
		want              bool
	}{
		"a dialog":             {"PermissionRequest", "cli", true},
		"a dialog, not known":  {"PermissionRequest", "", true},
		"a dialog without one": {"PermissionRequest", "sdk-cli", false},
		"a gate":               {"PreToolUse", "cli", true},
		"another event":        {"Stop", "cli", false},
	} {
		if got := claudecode.Attended(read(`{"hook_event_name":"`+x.event+`"}`), x.entrypoint); got != x.want {
			t.Errorf("%s: %t, want %t", name, got, x.want)
		}
	}
}

// TestParseUnanswered checks the values of unanswered.
func TestParseUnanswered(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]claudecode.Unanswered{"": claudecode.AskLocally, "ask": claudecode.AskLocally, "deny": claudecode.DenySilence, "allow": ""} {
		if got, err := claudecode.ParseUnanswered(in); got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v, want %q", in, got, err, want)
		}
	}
}

// TestWatched checks at which events Claude Code accepts messages from people,
// and in which form.
func TestWatched(t *testing.T) {
	t.Parallel()
	watch := func(event string, takes bool, continued *bool) claudecode.Watch {
		return claudecode.Watch{Event: event, Session: "s", Transcript: "/t", Takes: takes, Continued: continued}
	}
	context := func(event string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"<hi>"}}`
	}
	const block = `{"decision":"block","reason":"<hi>"}`
	for name, x := range map[string]struct {
		event, more string
		want        claudecode.Watch
		does        bool
		told        string
	}{
		"a tool has run":   {"PostToolUse", ``, watch("PostToolUse", true, nil), true, context("PostToolUse")},
		"a prompt":         {"UserPromptSubmit", ``, watch("UserPromptSubmit", true, nil), true, context("UserPromptSubmit")},
		"a turn ends":      {"Stop", ``, watch("Stop", true, new(false)), true, block},
		"it ends again":    {"Stop", `,"stop_hook_active":true`, watch("Stop", true, new(true)), true, block},
		"a gate":           {"PreToolUse", ``, watch("PreToolUse", false, nil), true, ""},
		"a subagent":       {"PostToolUse", `,"agent_id":"a1"`, watch("PostToolUse", false, nil), false, ""},
		"another event":    {"SessionStart", ``, watch("SessionStart", false, nil), false, ""},
		"several sessions": {"PostToolUse", `,"session_id":"x"`, claudecode.Watch{}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, does := claudecode.Watched(read(`{"hook_event_name":"` + x.event + `","session_id":"s","transcript_path":"/t"` + x.more + `}`))
			if d := cmp.Diff(x.want, got); d != "" || does != x.does {
				t.Errorf("there is something to do: %t, want %t (-want +got):\n%s", does, x.does, d)
			}
			if x.told == "" {
				return
			}
			if raw, err := dialect.Encode(claudecode.Told(x.event, "<hi>")); err != nil || string(raw) != x.told {
				t.Errorf("it is told %s, %v, want %s", raw, err, x.told)
			}
		})
	}
}

// TestFits checks that messages fit into what Claude Code keeps of an output, in
// the characters of JavaScript.
func TestFits(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		texts []string
		want  bool
	}{
		"nothing":          {nil, true},
		"all of it":        {[]string{strings.Repeat("é", 4999), strings.Repeat("x", 4999)}, true},
		"a line too many":  {[]string{strings.Repeat("é", 4999), strings.Repeat("x", 4999), ""}, false},
		"pairs":            {[]string{strings.Repeat("😀", 4999)}, true},
		"a pair too many":  {[]string{strings.Repeat("😀", 5000)}, false},
		"one text of many": {[]string{strings.Repeat("x", 10_000)}, false},
	} {
		if got := claudecode.Fits(x.texts); got != x.want {
			t.Errorf("%s: %t, want %t", name, got, x.want)
		}
	}
}

// TestAgrees checks that questions and plans count as answered in chat only if
// Claude Code uses that response.
func TestAgrees(t *testing.T) {
	t.Parallel()
	b := answered("q1", bridge.TextAnswer("B"))
	decided := func(json string) bridge.Response { return answered("plan", bridge.JSONAnswer(json)) }
	for name, x := range map[string]struct {
		asked string
		resp  bridge.Response
		more  string // what Claude Code adds to the input
		want  bool
	}{
		"the answer":        {questioned, b, `,"answers":{"Which one?":"B"}`, true},
		"another answer":    {questioned, b, `,"answers":{"Which one?":"A"}`, false},
		"one more":          {questioned, b, `,"answers":{"Which one?":"B","Why?":"x"}`, false},
		"another question":  {questioned, b, `,"answers":{"Why?":"B"}`, false},
		"no answers":        {questioned, b, ``, false},
		"answers as a list": {questioned, b, `,"answers":["B"]`, false},
		"declined":          {questioned, declined, `,"answers":{"Which one?":"B"}`, false},
		"a plan":            {planPrompt, decided(`{"decision":"approve"}`), ``, true},
		"a plan to change":  {planPrompt, decided(`{"decision":"request_changes","feedback":"smaller"}`), ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := claudecode.Hook([]byte(x.asked), claudecode.AskLocally)
			if err != nil {
				t.Fatal(err)
			}
			var in struct {
				Tool  string          `json:"tool_name"`
				Input json.RawMessage `json:"tool_input"`
			}
			if err := json.Unmarshal([]byte(x.asked), &in); err != nil {
				t.Fatal(err)
			}
			input := strings.TrimSuffix(string(in.Input), "}") + x.more + "}"
			ran, err := claudecode.Hook([]byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"`+in.Tool+`","tool_input":`+input+`}`), claudecode.AskLocally)
			if err != nil {
				t.Fatal(err)
			}
			if got := ran.Elsewhere.Agrees(dialecttest.Record(t, asked.Exchanges[0].Request, x.resp)); got != x.want {
				t.Errorf("%s is as the response says: %t, want %t", input, got, x.want)
			}
		})
	}
}
