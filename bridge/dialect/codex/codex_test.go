package codex_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

const (
	permission = `{"session_id":"s-1","turn_id":"t-1","transcript_path":null,"cwd":"/repo","hook_event_name":"PermissionRequest","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"git push","description":"network-access github.com"}}`
	preToolUse = `{"session_id":"s-1","turn_id":"t-1","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"call_1","tool_input":{"command":"git push"}}`

	command     = `{"method":"item/commandExecution/requestApproval","id":60,"params":{"kind":"command","threadId":"thr_123","turnId":"turn_123","itemId":"call_123","startedAtMs":1760000000000,"approvalId":null,"environmentId":null,"reason":"needs the network","networkApprovalContext":null,"command":"git push","cwd":"/repo","commandActions":[],"additionalPermissions":null,"proposedExecpolicyAmendment":["git","push"],"proposedNetworkPolicyAmendments":null,"availableDecisions":["accept","acceptForSession",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["git","push"]}},"decline","cancel"]}}`
	commandFew  = `{"method":"item/commandExecution/requestApproval","id":61,"params":{"threadId":"thr_123","turnId":"turn_123","itemId":"call_124","startedAtMs":1,"command":"ls","cwd":"/repo","availableDecisions":["accept","cancel"]}}`
	network     = `{"method":"item/commandExecution/requestApproval","id":62,"params":{"threadId":"thr_123","turnId":"turn_123","itemId":"call_125","startedAtMs":1,"approvalId":"a-1","networkApprovalContext":{"host":"example.com","protocol":"https"},"command":null}}`
	fileChange  = `{"method":"item/fileChange/requestApproval","id":63,"params":{"threadId":"thr_123","turnId":"turn_123","itemId":"call_126","startedAtMs":1,"reason":"outside","grantRoot":"/srv"},"changes":[{"path":"a.go","kind":{"type":"update"},"diff":"-a\n+b"}]}`
	permissions = `{"method":"item/permissions/requestApproval","id":64,"params":{"threadId":"thr_123","turnId":"turn_123","itemId":"call_127","startedAtMs":1,"cwd":"/repo","reason":"to build","permissions":{"network":{"enabled":true}}}}`
	userInput   = `{"method":"item/tool/requestUserInput","id":65,"params":{"threadId":"thr_123","turnId":"turn_123","itemId":"call_128","isBlocking":true,"autoResolutionMs":null,"questions":[{"id":"db","header":"Database choice","question":"Which one?","isOther":true,"isSecret":false,"options":[{"label":"Postgres","description":"the usual"},{"label":"SQLite","description":"a file"}]},{"id":"why","header":"Why","question":"Why?","isOther":false,"isSecret":false,"options":null}]}}`
	elicit      = `{"method":"mcpServer/elicitation/request","id":66,"params":{"threadId":"thr_123","turnId":"turn_123","serverName":"tickets","mode":"form","message":"Which ticket?","requestedSchema":{"type":"object","properties":{"ticket":{"type":"string"}},"required":["ticket"]}}}`
	toolCall    = `{"method":"mcpServer/elicitation/request","id":8,"params":{"threadId":"thr_123","turnId":"turn_123","serverName":"el","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","persist":["session","always"],"tool_name":"register","tool_description":"Registers a service.","tool_params":{"name":"x"},"tool_params_display":[{"name":"name","value":"x","display_name":"name"}]},"message":"Allow the el MCP server to run tool \"register\"?","requestedSchema":{"type":"object","properties":{}}}}`
	legacyExec  = `{"method":"execCommandApproval","id":67,"params":{"conversationId":"c-1","callId":"call_1","command":["git","push"],"cwd":"/repo","reason":"why","parsedCmd":[]}}`
	legacyPatch = `{"method":"applyPatchApproval","id":68,"params":{"conversationId":"c-1","callId":"call_2","fileChanges":{"a.go":{"type":"update","unified_diff":"-a\n+b"}},"reason":null,"grantRoot":null}}`
)

var (
	once    = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}
	session = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeSession}
	always  = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways}
	denied  = bridge.Response{State: bridge.StateDenied, Reason: "not on a Friday"}
	stopped = bridge.Response{State: bridge.StateDenied, Stop: true}
	silence = bridge.Response{State: bridge.StateExpired}
)

func TestHooks(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "hooks")
	for name, c := range map[string]struct {
		in   string
		deny bool
		resp bridge.Response
	}{
		"hook-once": {permission, false, once}, "hook-session": {permission, false, session}, "hook-denied": {permission, false, denied},
		"hook-silence": {permission, false, silence}, "hook-silence-deny": {permission, true, silence},
		"pre-once": {preToolUse, false, once}, "pre-denied": {preToolUse, false, denied}, "pre-silence": {preToolUse, false, silence},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := codex.Hook([]byte(c.in), c.deny)
			if err != nil {
				t.Fatal(err)
			}
			out := book.Golden(t, name, c.in, tr, c.resp)
			for _, fatal := range []string{"updatedInput", "updatedPermissions", "interrupt", `"ask"`} {
				if strings.Contains(out, fatal) {
					t.Errorf("Codex would fail closed on %s: %s", fatal, out)
				}
			}
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "requests")
	answers := bridge.Response{Answers: map[string]bridge.Answer{"db": bridge.TextAnswer("MySQL"), "why": bridge.TextAnswer("habit")}}
	for name, c := range map[string]struct {
		in   string
		resp bridge.Response
	}{
		"command-once": {command, once}, "command-session": {command, session}, "command-always": {command, always}, "command-denied": {command, denied},
		"command-stopped": {command, stopped}, "command-silence": {command, silence}, "command-few-once": {commandFew, once}, "command-few-denied": {commandFew, stopped},
		"network-once": {network, once}, "file-once": {fileChange, once}, "file-session": {fileChange, session}, "file-denied": {fileChange, denied},
		"permissions-once": {permissions, once}, "permissions-session": {permissions, session}, "permissions-denied": {permissions, denied},
		"input": {userInput, answers}, "input-silence": {userInput, silence},
		"elicitation":          {elicit, bridge.Response{Answers: map[string]bridge.Answer{"elicitation": {JSON: json.RawMessage(`{"ticket":"T-1"}`)}}}},
		"elicitation-declined": {elicit, bridge.Response{State: bridge.StateCancelled}},
		"elicitation-silence":  {elicit, silence},
		"tool-once":            {toolCall, once}, "tool-session": {toolCall, session}, "tool-always": {toolCall, always},
		"tool-denied": {toolCall, denied}, "tool-stopped": {toolCall, stopped}, "tool-silence": {toolCall, silence},
		"tool-for-now": {strings.Replace(toolCall, `"persist":["session","always"],`, "", 1), always},
		"legacy-once":  {legacyExec, once}, "legacy-session": {legacyExec, session}, "legacy-denied": {legacyExec, denied}, "legacy-stopped": {legacyExec, stopped},
		"legacy-silence": {legacyExec, silence}, "legacy-patch": {legacyPatch, once},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := codex.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			book.Golden(t, name, c.in, tr, c.resp)
		})
	}
}

// TestOffer checks that the card offers only the decisions that the app server
// offers.
func TestOffer(t *testing.T) {
	t.Parallel()
	tr, err := codex.Request([]byte(commandFew))
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Exchanges[0].Request
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	i := bridge.Interaction{Ask: bridge.Ask{Kind: r.Kind, Approval: r.Approval}}
	if got := i.Decisions(); len(got) != 2 || got[0] != bridge.DecideDenyStop || got[1] != bridge.DecideOnce {
		t.Errorf("the card offers %v", got)
	}
}

// TestStopped checks that every request of a stopped session is refused, and not
// left to the dialog of the client.
func TestStopped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		command: `{"decision":"cancel"}`, fileChange: `{"decision":"cancel"}`, permissions: `{"permissions":{},"scope":"turn"}`,
		legacyExec: `{"decision":"abort"}`, legacyPatch: `{"decision":"abort"}`,
	} {
		tr, err := codex.Request([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []bridge.State{bridge.StateDenied, bridge.StateCancelled} {
			rec := dialecttest.Record(t, tr.Exchanges[0].Request, bridge.Response{State: s, Stop: true, Reason: "stopped by ana"})
			rec.Response.Actor = nil // no one has denied it
			a, err := tr.Exchanges[0].Answer(rec)
			out, _ := json.Marshal(a)
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %s, %v; want %s", s, out, err, want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	secret := strings.Replace(userInput, `"isSecret":false`, `"isSecret":true`, 1)
	for in, word := range map[string]string{
		secret: "secret", `{"method":"item/tool/call","id":1,"params":{}}`: "method", `{"method":"item/tool/requestUserInput","params":{"questions":[]}}`: "questions",
		strings.Replace(command, `"kind":"command"`, `"kind":"writeStdin"`, 1): "kind", strings.Replace(toolCall, "mcp_tool_call", "other", 1): "codex_approval_kind",
		`{"method":"mcpServer/elicitation/request","params":{"mode":"openai/userVerification","message":"m","title":"t"}}`: "mode",
	} {
		if _, err := codex.Request([]byte(in)); err == nil || !strings.Contains(bridge.PublicError(err).Message, word) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestKeys checks that only a repetition of a request has its key. The IDs of
// requests start again with the app server, and some models repeat those of
// their calls.
func TestKeys(t *testing.T) {
	t.Parallel()
	key := func(in string) string {
		tr, err := codex.Request([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Exchanges[0].Request
		if r.CallID.ID == "" {
			return ""
		}
		return r.Session + " " + r.CallID.ID
	}
	if a, b := key(command), key(strings.Replace(command, `"id":60`, `"id":0`, 1)); a == "" || a != b {
		t.Errorf("a repetition with another ID has the key %q, want %q", b, a)
	}
	for was, becomes := range map[string]string{"turn_123": "turn_124", `"startedAtMs":1760000000000`: `"startedAtMs":1760000000001`, "call_123": "call_124", "thr_123": "thr_124"} {
		if a, b := key(command), key(strings.Replace(command, was, becomes, 1)); a == b {
			t.Errorf("%s and %s share the key %q", was, becomes, a)
		}
	}
	if a, b := key(elicit), key(strings.Replace(elicit, "turn_123", "turn_124", 1)); a == b || a == "" {
		t.Errorf("elicitations of two turns share the key %q", a)
	}
	if k := key(strings.Replace(elicit, `"turnId":"turn_123",`, "", 1)); k != "" {
		t.Errorf("an elicitation without a turn has the key %q", k)
	}
}

func FuzzRequest(f *testing.F) {
	for _, s := range []string{command, commandFew, network, fileChange, permissions, userInput, elicit, toolCall, legacyExec, legacyPatch} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := codex.Request(b)
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
				continue
			}
			if out, err := dialect.Encode(a); err != nil || strings.Contains(string(out), `"accept`) || strings.Contains(string(out), `"approved`) {
				t.Fatalf("a request without a response is accepted: %s, %v", out, err)
			}
		}
	})
}

// TestNothingDropped checks that a card has what an approval permits beyond the
// command or the changes.
func TestNothingDropped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		strings.Replace(legacyPatch, `"grantRoot":null`, `"grantRoot":"/srv/x"`, 1):                    "`/srv/x`",
		strings.Replace(fileChange, `"grantRoot":"/srv"`, `"grantRoot":"/a\u0060b"`, 1):                "``/a`b``",
		strings.Replace(command, `"additionalPermissions":null`, `"additionalPermissions":{"n":1}`, 1): `"additionalPermissions":{"n":1}`,
	} {
		tr, err := codex.Request([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Exchanges[0].Request
		if all := r.Prompt + string(r.Approval.Input); !strings.Contains(all, want) {
			t.Errorf("%s\nhas no %s", all, want)
		}
	}
}

// TestFailed checks that neither a failure nor a stopped session is consent, in the
// form of the event.
func TestFailed(t *testing.T) {
	t.Parallel()
	stop := bridge.Stop{Session: "s", By: bridge.Actor{Person: "ana"}, At: time.Unix(1e9, 0)}
	for event, want := range map[string]string{
		"PreToolUse": `"permissionDecision":"deny"`, "PermissionRequest": `"behavior":"deny"`, "PostToolUse": "{}", "SessionStart": "{}", "NewEvent": `"decision":"block"`,
	} {
		for name, out := range map[string]any{
			"failed": codex.Failed(event, "why"), "stopped": codex.Stopped(event, stop), "unasked": codex.Unasked(event, dialect.Unasked{Gate: true}, "why"),
		} {
			if raw, err := dialect.Encode(out); err != nil || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "allow") {
				t.Errorf("%s, %s: %s, %v, want %s", event, name, raw, err, want)
			}
		}
	}
	left := dialect.Unasked{Attended: true}
	if out := codex.Unasked("PermissionRequest", left, "why"); out != (dialect.NoDecision{}) {
		t.Errorf("what someone at the terminal may decide is decided: %+v", out)
	}
}

// TestReports checks what an event says about its session and about requests that
// were decided at the terminal.
func TestReports(t *testing.T) {
	t.Parallel()
	const in = `{"session_id":"s","turn_id":"t","cwd":"/repo","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"c","last_assistant_message":"Done.","hook_event_name":`
	for name, x := range map[string]struct {
		in          string
		state       bridge.SessionState
		step, last  string
		closes      string // the tool of the requests that it closes, or "turn"
		wrong       string
		reportsNone bool
	}{
		"a tool has run":   {in: in + `"PostToolUse"}`, state: bridge.SessionWorking, step: "Bash: make", closes: "Bash"},
		"the turn ends":    {in: in + `"Stop"}`, state: bridge.SessionWaiting, last: "Done.", closes: "turn"},
		"it starts":        {in: in + `"SessionStart"}`, reportsNone: true},
		"an unknown event": {in: in + `"NewEvent"}`, wrong: "unknown event", reportsNone: true},
		"no event":         {in: `{}`, wrong: "hook_event_name: required", reportsNone: true},
		"no tool":          {in: `{"session_id":"s","hook_event_name":"PreToolUse"}`, wrong: "tool_name: required"},
		"no input":         {in: `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}`, wrong: "tool_input: missing"},
		"no session":       {in: `{"hook_event_name":"Stop"}`, closes: "turn", reportsNone: true},
		"no JSON":          {in: `{`, wrong: "hook: ", reportsNone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := codex.Hook([]byte(x.in), false)
			if (err != nil) != (x.wrong != "") || err != nil && !strings.Contains(bridge.PublicError(err).Message, x.wrong) {
				t.Fatalf("%v, want %q", err, x.wrong)
			}
			closes := ""
			if e := tr.Elsewhere; e != nil {
				if closes = e.Tool; closes == "" {
					closes = "turn"
				}
			}
			if closes != x.closes || len(tr.Exchanges) > 0 {
				t.Errorf("it closes requests of %q and asks %d times; want %q", closes, len(tr.Exchanges), x.closes)
			}
			if (tr.Report == nil) != x.reportsNone {
				t.Fatalf("it reports %+v", tr.Report)
			}
			if r := tr.Report; r != nil && (r.State != x.state || r.Step != x.step || r.Last != x.last) {
				t.Errorf("it reports %q, %q, %q; want %q, %q, %q", r.State, r.Step, r.Last, x.state, x.step, x.last)
			}
		})
	}
}

// TestReviewer checks which lines of a transcript say that a model reviews what
// needs approval.
func TestReviewer(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]bool{ // a model, and whether the line says so
		`{"type":"turn_context","payload":{"approvals_reviewer":"user"}}`:                   {false, true},
		`{"type":"turn_context","payload":{"approvals_reviewer":"guardian"}}`:               {true, true},
		`{"type":"turn_context","payload":{}}`:                                              {},
		`{"type":"message","payload":{"text":"\"turn_context\"","approvals_reviewer":"x"}}`: {},
		`{"type":"message","payload":{"turn_context":1,"approvals_reviewer":"x"}}`:          {},
		`{"type":"turn_context","payload":`:                                                 {},
		`{"type":"other"}`:                                                                  {},
	} {
		if model, ok := codex.Reviewer([]byte(line)); model != want[0] || ok != want[1] {
			t.Errorf("%s: a model is %t, said %t; want %t, %t", line, model, ok, want[0], want[1])
		}
	}
}

// TestDenies checks which results refuse a request.
func TestDenies(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]bool{
		`{"decision":"decline"}`: true, `{"decision":"cancel"}`: true, `{"action":"decline"}`: true, `{"action":"cancel","content":null}`: true,
		`{"decision":"accept"}`: false, `{"decision":{"acceptWithExecpolicyAmendment":{}}}`: false, `{"action":"accept"}`: false, `{}`: false, `{`: false,
	} {
		if got := codex.Denies(json.RawMessage(result)); got != want {
			t.Errorf("%s refuses: %t, want %t", result, got, want)
		}
	}
}
