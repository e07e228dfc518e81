package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

const (
	preToolUse = `{"session_id":"abc123","prompt_id":"550e8400-e29b-41d4-a716-446655440000","cwd":"/home/user/my-project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","description":"Run test suite","timeout":120000,"run_in_background":false},"tool_use_id":"toolu_01ABC123"}`
	permission = `{"session_id":"abc123","cwd":"/home/user/my-project","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm -rf node_modules","description":"Remove node_modules directory"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"rm -rf node_modules"}],"behavior":"allow","destination":"localSettings"},{"type":"setMode","mode":"bypassPermissions","destination":"session"},{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"userSettings"}]}`
	questions  = `{"session_id":"abc123","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"toolu_02","tool_input":{"questions":[{"question":"How should I format the output?","header":"Format","options":[{"label":"Summary","description":"Brief overview"},{"label":"Detailed","description":"Full explanation"}],"multiSelect":false},{"question":"Which sections should I include?","header":"Sections","options":[{"label":"Introduction","description":"Opening context"},{"label":"Conclusion","description":"Final summary"}],"multiSelect":true}]}}`
	planned    = `{"session_id":"abc123","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"ExitPlanMode","tool_use_id":"toolu_03","tool_input":{"plan":"## Refactor auth\n1. Extract…","planFilePath":"/plans/refactor-auth.md"}}`
	elicit     = `{"session_id":"abc123","cwd":"/repo","hook_event_name":"Elicitation","mcp_server_name":"my-mcp-server","message":"Who are you?","mode":"form","requested_schema":{"type":"object","properties":{"username":{"type":"string","title":"Username"}},"required":["username"]}}`
	elicitURL  = `{"session_id":"abc123","hook_event_name":"Elicitation","mcp_server_name":"my-mcp-server","message":"Please sign in","mode":"url","url":"https://example.com/login?a=1"}`
	control    = `{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git push"},"tool_use_id":"toolu_04","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"git push:*"}],"behavior":"allow","destination":"localSettings"}],"decision_reason":"\u001b[31mnot in the allow list\u001b[0m","default_to_no":true,"suppress_always_allow_rule":false,"requires_user_interaction":false}}`
)

const (
	autoGate   = `{"session_id":"abc123","cwd":"/repo","permission_mode":"auto","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"toolu_05"}`
	questioned = `{"session_id":"abc123","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which one?","header":"One","options":[{"label":"A"},{"label":"B"}],"multiSelect":false}]}}`
	planPrompt = `{"session_id":"abc123","cwd":"/repo","permission_mode":"plan","hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":{"plan":"1. Extract","planFilePath":"/plans/x.md"}}`
	unwritten  = `{"session_id":"abc123","cwd":"/repo","permission_mode":"plan","hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":{}}`
	idle       = `{"session_id":"abc123","cwd":"/repo","hook_event_name":"Notification","message":"Claude is waiting for your input","notification_type":"idle_prompt"}`
)

var (
	once     = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}
	session  = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeSession}
	always   = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways}
	edited   = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce, Input: json.RawMessage(`{"command":"npm run lint"}`)}
	denied   = bridge.Response{State: bridge.StateDenied, Reason: "use the staging database"}
	stopped  = bridge.Response{State: bridge.StateDenied, Reason: "enough", Stop: true}
	silence  = bridge.Response{State: bridge.StateExpired}
	declined = bridge.Response{State: bridge.StateCancelled, Reason: "declined"}
)

func answered(id string, a bridge.Answer) bridge.Response {
	return bridge.Response{Answers: map[string]bridge.Answer{id: a}}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "hooks")
	both := bridge.Response{Answers: map[string]bridge.Answer{"q1": bridge.TextAnswer("Summary"), "q2": bridge.ListAnswer("Introduction", "Conclusion")}}
	for name, c := range map[string]struct {
		in   string
		u    claudecode.Unanswered
		resp bridge.Response
	}{
		"pre-once": {preToolUse, claudecode.AskLocally, once}, "pre-edited": {preToolUse, claudecode.AskLocally, edited},
		"pre-denied": {preToolUse, claudecode.AskLocally, denied}, "pre-stopped": {preToolUse, claudecode.AskLocally, stopped},
		"pre-silence": {preToolUse, claudecode.AskLocally, silence}, "pre-silence-deny": {preToolUse, claudecode.DenySilence, silence},
		"permission-once": {permission, claudecode.AskLocally, once}, "permission-session": {permission, claudecode.AskLocally, session},
		"permission-always": {permission, claudecode.AskLocally, always}, "permission-edited": {permission, claudecode.AskLocally, edited},
		"permission-denied": {permission, claudecode.AskLocally, denied}, "permission-stopped": {permission, claudecode.AskLocally, stopped},
		"permission-silence": {permission, claudecode.AskLocally, silence}, "permission-silence-deny": {permission, claudecode.DenySilence, silence},
		"questions": {questions, claudecode.AskLocally, both}, "questions-declined": {questions, claudecode.AskLocally, declined},
		"questions-silence": {questions, claudecode.AskLocally, silence}, "questions-silence-deny": {questions, claudecode.DenySilence, silence},
		"plan-approved":  {planned, claudecode.AskLocally, answered("plan", bridge.Answer{JSON: json.RawMessage(`{"decision":"approve"}`)})},
		"plan-changes":   {planned, claudecode.AskLocally, answered("plan", bridge.Answer{JSON: json.RawMessage(`{"decision":"request_changes","feedback":"smaller steps"}`)})},
		"plan-unwritten": {unwritten, claudecode.AskLocally, once}, "plan-unwritten-denied": {unwritten, claudecode.AskLocally, denied},
		"plan-permission":      {planPrompt, claudecode.AskLocally, answered("plan", bridge.Answer{JSON: json.RawMessage(`{"decision":"approve"}`)})},
		"questions-permission": {questioned, claudecode.AskLocally, answered("q1", bridge.TextAnswer("B"))},
		"auto-once":            {autoGate, claudecode.AskLocally, once}, "auto-silence": {autoGate, claudecode.AskLocally, silence},
		"idle":                 {idle, claudecode.AskLocally, bridge.Response{State: bridge.StateAnswered}},
		"elicitation":          {elicit, claudecode.AskLocally, answered("elicitation", bridge.Answer{JSON: json.RawMessage(`{"username":"alice"}`)})},
		"elicitation-declined": {elicit, claudecode.AskLocally, declined}, "elicitation-silence": {elicit, claudecode.AskLocally, silence},
		"elicitation-url": {elicitURL, claudecode.AskLocally, answered("elicitation", bridge.TextAnswer("done"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := claudecode.Hook([]byte(c.in), c.u)
			if err != nil {
				t.Fatal(err)
			}
			out := book.Golden(t, name, c.in, tr, c.resp)
			if strings.Contains(name, "silence") && strings.Contains(strings.ToLower(out), `"allow"`) {
				t.Errorf("a request without a response is allowed: %s", out)
			}
		})
	}
}

// TestPlanIsShownWhole checks that a card with a plan shows everything that its
// approval gives to Claude Code.
func TestPlanIsShownWhole(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"plan":"1. Test","planFilePath":"/plans/x.md","allowedPrompts":[]}`: "Claude Code has a plan",
		`{"plan":"1. Test","allowedPrompts":[{"tool":"Bash","prompt":"run ` + "```" + `any command"}]}`: "Claude Code has a plan\n\nWith the plan, it asks for:\n````\n" +
			`{"allowedPrompts":[{"tool":"Bash","prompt":"run ` + "```" + `any command"}]}` + "\n````",
		`{"plan":"1. Test","mode":"bypassPermissions"}`: "Claude Code has a plan\n\nWith the plan, it asks for:\n```\n{\"mode\":\"bypassPermissions\"}\n```",
	} {
		tr, err := claudecode.Hook([]byte(`{"hook_event_name":"PermissionRequest","session_id":"s","tool_name":"ExitPlanMode","tool_input":`+input+`}`), claudecode.AskLocally)
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Exchanges[0].Request.Prompt; got != want {
			t.Errorf("%s: %q", input, got)
		}
	}
}

// TestSuggestionsAreStated checks that a card lists every permission that its
// choice gives to Claude Code.
func TestSuggestionsAreStated(t *testing.T) {
	t.Parallel()
	tr, err := claudecode.Hook([]byte(`{"hook_event_name":"PermissionRequest","session_id":"s","tool_name":"Bash","tool_input":{"command":"x"},"permission_suggestions":[
		{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"lasting:*"}]},
		{"type":"addRules","behavior":"allow","destination":"session","rules":[{"toolName":"Bash","ruleContent":"brief:*"}]},
		{"type":"replaceRules","behavior":"allow","destination":"session","rules":[{"toolName":"Bash","ruleContent":"other:*"}]},
		{"type":"addDirectories","destination":"localSettings","directories":["/seen",{"path":"/unseen"}]},
		{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[]}]}`), claudecode.AskLocally)
	if err != nil || len(tr.Exchanges) != 1 {
		t.Fatal(err)
	}
	x := tr.Exchanges[0]
	if !x.Request.Approval.AgentRemembers {
		t.Error("nod would remember the approval as well")
	}
	for _, s := range []bridge.Scope{bridge.ScopeSession, bridge.ScopeAlways} {
		note := x.Request.Approval.ScopeNotes[s]
		answer, err := x.Answer(dialecttest.Record(t, x.Request, bridge.Response{State: bridge.StateApproved, Scope: s}))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		for _, given := range []string{"lasting", "brief", "other"} {
			if !strings.Contains(string(raw), given) || !strings.Contains(note, given) {
				t.Errorf("%s: %q is given by %s and stated as %q", s, given, raw, note)
			}
		}
		if strings.Contains(string(raw), "seen") || !strings.Contains(note, "instead of") {
			t.Errorf("%s: stated as %q, given as %s", s, note, raw)
		}
	}
}

// TestElsewhere checks that a report about another decision closes cards and
// sends no request.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	tr, err := claudecode.Hook([]byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"b":1,"a":2},"tool_response":{}}`), claudecode.AskLocally)
	if err != nil || len(tr.Exchanges) != 0 || tr.Elsewhere == nil {
		t.Fatalf("%+v, %v", tr, err)
	}
	covered := func(tool, input string) bool {
		return tr.Elsewhere.Covers(bridge.Interaction{Ask: bridge.Ask{
			Session: "s", Approval: &bridge.Approval{Tool: tool, Input: json.RawMessage(input)},
		}})
	}
	if !covered("Bash", `{"a":2, "b":1}`) || covered("Bash", `{"a":2}`) || covered("Write", `{"a":2,"b":1}`) {
		t.Error("it covers the wrong requests")
	}
	for event, want := range map[string][2]bool{ // requests of the main agent and of a subagent
		`"Stop"`: {true, false}, `"SubagentStop","agent_id":"a1"`: {false, true}, `"SessionEnd"`: {true, true},
	} {
		tr, err := claudecode.Hook([]byte(`{"session_id":"s","hook_event_name":`+event+`}`), "")
		if err != nil || tr.Elsewhere == nil {
			t.Fatalf("%s: %+v, %v", event, tr, err)
		}
		for n, turn := range []string{"", "a1"} {
			if got := tr.Elsewhere.Covers(bridge.Interaction{Ask: bridge.Ask{
				Session: "s", Turn: turn,
			}}); got != want[n] {
				t.Errorf("%s of turn %q: %v", event, turn, got)
			}
		}
	}
	for _, event := range []string{"SessionStart", "Notification"} { // a notification without a known type
		if tr, err := claudecode.Hook([]byte(`{"hook_event_name":"`+event+`"}`), ""); err != nil || len(tr.Exchanges) != 0 || tr.Elsewhere != nil {
			t.Errorf("%s: %+v, %v", event, tr, err)
		}
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "control")
	for name, c := range map[string]struct {
		in   string
		resp bridge.Response
	}{
		"control-once": {control, once}, "control-always": {control, always}, "control-denied": {control, denied}, "control-silence": {control, silence},
		"control-no-rules":       {strings.Replace(control, `"suppress_always_allow_rule":false`, `"suppress_always_allow_rule":true`, 1), once},
		"control-own-interface":  {strings.Replace(control, `"requires_user_interaction":false`, `"requires_user_interaction":true`, 1), once},
		"control-no-suggestions": {`{"type":"control_request","request_id":"r-2","request":{"subtype":"can_use_tool","tool_name":"Write","input":{"file_path":"/x"}}}`, once},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := claudecode.Control([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			book.Golden(t, name, c.in, tr, c.resp)
		})
	}
	if _, err := claudecode.Control([]byte(`{"type":"control_cancel_request","request_id":"r"}`)); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a cancellation sends a request: %v", err)
	}
}

func TestPromptAndChannel(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "promptandchannel")
	args := claudecode.PromptArguments{ToolName: "Bash", Input: []byte(`{"command":"ls"}`), ToolUseID: "toolu_05"}
	in, err := dialect.Encode(args)
	if err != nil {
		t.Fatal(err)
	}
	for name, resp := range map[string]bridge.Response{"prompt-once": once, "prompt-denied": denied, "prompt-silence": silence} {
		tr, err := claudecode.Prompt(args, "s")
		if err != nil {
			t.Fatal(err)
		}
		book.Golden(t, name, string(in), tr, resp)
	}
	q := claudecode.ChannelRequest{ID: "tbxkq", Tool: "Bash", Description: "Run shell command", Preview: `{"command": "git push"}`}
	if in, err = dialect.Encode(q); err != nil {
		t.Fatal(err)
	}
	for name, resp := range map[string]bridge.Response{"channel-once": once, "channel-denied": {State: bridge.StateDenied}, "channel-silence": silence} {
		tr, err := claudecode.Channel(q, "s")
		if err != nil {
			t.Fatal(err)
		}
		book.Golden(t, name, string(in), tr, resp)
	}
	for _, id := range []string{"", "abc", "abcdl", "ABCDE", "abcdef"} {
		if _, err := claudecode.Channel(claudecode.ChannelRequest{ID: id}, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

// TestShortenedPreview checks that no one can approve an input that is not
// shown in full.
func TestShortenedPreview(t *testing.T) {
	t.Parallel()
	for _, preview := range []string{`{"command": "rm -rf ⋯ 9 code points elided ⋯"}`, `{"command": "rm -rf /ho`} {
		if _, err := claudecode.Channel(claudecode.ChannelRequest{ID: "tbxkq", Tool: "Bash", Preview: preview}, ""); bridge.ErrorCode(err) != bridge.CodeUnsupported {
			t.Errorf("%s: %v", preview, err)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for in, word := range map[string]string{
		`{}`:                                 "hook_event_name",
		`{"hook_event_name":"PreToolUse"}`:   "tool_name",
		`{"hook_event_name":["PreToolUse"]}`: "hook_event_name",
		`{"hook_event_name":"PreToolUse","tool_name":"ExitPlanMode","tool_input":{"plan":7}}`:                                                                       "tool_input.plan",
		`{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[]}}`:                                                              "questions",
		`{"hook_event_name":"Elicitation","message":"m","mode":"form","requested_schema":{"type":"object","properties":{"db_password":{"type":"string"}}}}`:         "secret",
		`{"hook_event_name":"Elicitation","message":"m","mode":"form","requested_schema":{"type":"object","properties":{"x":{"type":"string","title":"API key"}}}}`: "secret",
		`{"hook_event_name":"Elicitation","message":"m","mode":"openai/userVerification"}`:                                                                          "mode",
	} {
		if _, err := claudecode.Hook([]byte(in), ""); err == nil || !strings.Contains(bridge.PublicError(err).Message, word) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestModesWithoutPrompts checks that a missing answer never leaves a gated call to a
// terminal that does not ask, and that a question to the terminal is only for
// modes that prompt.
func TestModesWithoutPrompts(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"": "ask", "default": "ask", "acceptEdits": "ask", "plan": "ask",
		"auto": "deny", "dontAsk": "deny", "bypassPermissions": "deny", "newMode": "deny", "Default": "deny",
	} {
		in := strings.Replace(autoGate, `"permission_mode":"auto"`, `"permission_mode":"`+mode+`"`, 1)
		tr, err := claudecode.Hook([]byte(in), claudecode.AskLocally)
		if err != nil {
			t.Fatal(err)
		}
		for _, resp := range []bridge.Response{silence, {State: bridge.StateUndeliverable}} {
			a, err := tr.Exchanges[0].Answer(dialecttest.Record(t, tr.Exchanges[0].Request, resp))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := dialect.Encode(a); err != nil || !strings.Contains(string(out), `"permissionDecision":"`+want+`"`) {
				t.Errorf("%q, %s: %s, %v", mode, resp.State, out, err)
			}
		}
		input := read(in + "x")
		if got := claudecode.Attended(input, ""); got != (want == "ask") {
			t.Errorf("%q: attended is %t", mode, got)
		}
	}
	const twice = `{"hook_event_name":"PreToolUse","permission_mode":"default","permission_mode":"auto"`
	if claudecode.Attended(read(twice), "") {
		t.Error("an ambiguous mode counts as one that prompts")
	}
}

func FuzzHook(f *testing.F) {
	for _, s := range []string{preToolUse, permission, questions, planned, elicit, elicitURL} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := claudecode.Hook(b, claudecode.DenySilence)
		if err != nil {
			return
		}
		for _, x := range tr.Exchanges {
			r := x.Request
			if r.Normalize() != nil {
				continue
			}
			a, err := x.Answer(dialecttest.Record(t, x.Request, silence))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := dialect.Encode(a); err != nil || strings.Contains(string(out), `"behavior":"allow"`) || strings.Contains(string(out), `"permissionDecision":"allow"`) {
				t.Fatalf("a request without a response is allowed: %s, %v", out, err)
			}
		}
	})
}
