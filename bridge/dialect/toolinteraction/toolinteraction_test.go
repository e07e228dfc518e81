package toolinteraction_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
)

const correlation = `"sessionId":"s","toolCallId":"call_1","toolName":"delete_files","turnId":"t1","responseId":"r1",`

var cases = map[string]struct {
	in   string
	resp bridge.Response
}{
	"approval": {
		`{` + correlation + `"type":"approval","prompt":"Delete 3 files?","approvalScopes":["once","session","always"]}`,
		bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeSession},
	},
	"approval-default": {
		`{` + correlation + `"type":"approval","timeoutMs":60000,"completedView":{"showInputs":false,"summaryTemplate":"User approved: {{action}}"}}`,
		bridge.Response{State: bridge.StateDenied, Reason: "not now"},
	},
	"ask_user": {
		`{` + correlation + `"type":"input","inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"What is your preferred language?","required":true}]}}`,
		bridge.Response{Answers: map[string]bridge.Answer{"answer": bridge.TextAnswer("TypeScript")}},
	},
	"cancelled": {
		`{` + correlation + `"type":"input","inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"Your answer"}]}}`,
		bridge.Response{State: bridge.StateCancelled, Reason: "declined"},
	},
	"expired": {
		`{` + correlation + `"type":"input","inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"Your answer"}]}}`,
		bridge.Response{State: bridge.StateExpired},
	},
	"every-field": {
		`{` + correlation + `"type":"input","prompt":"Please enter:","error":"Invalid email format","presentation":"questionnaire","inputSchema":{"type":"form","initialValues":{"a":"x","d":true},"fields":[` +
			`{"id":"a","type":"text","label":"A","required":true},{"id":"b","type":"textarea","label":"B","description":"more"},{"id":"c","type":"select","label":"C","options":[{"value":"1","label":"One"},{"value":"2","label":"Two"}],"defaultValue":"2"},` +
			`{"id":"d","type":"checkbox","label":"D"},{"id":"e","type":"checkbox","label":"E","options":[{"value":"1","label":"One"},{"value":"2","label":"Two"}],"defaultValue":["1"]},{"id":"f","type":"radio","label":"F","options":[{"value":"y","label":"Y"},{"value":"n","label":"N"}]}]}}`,
		bridge.Response{Answers: map[string]bridge.Answer{
			"a": bridge.TextAnswer("x"), "b": bridge.TextAnswer("y\nz"), "c": bridge.TextAnswer("1"), "d": bridge.TextAnswer("false"), "e": bridge.ListAnswer("1", "2"), "f": bridge.TextAnswer("y"),
		}},
	},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "golden")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := toolinteraction.DecodeRequest([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			rec := dialecttest.Record(t, r, c.resp)
			request, err := dialect.Encode(toolinteraction.EncodeRequest(rec.Interaction, rec.Interaction.Created))
			if err != nil {
				t.Fatal(err)
			}
			event := toolinteraction.EncodeResponse(rec.Interaction, *rec.Response)
			response, err := dialect.Encode(event)
			if err != nil {
				t.Fatal(err)
			}
			book.Add(t, name, c.in, string(request)+"\n"+string(response), r)
			// A front end can send the values that it receives.
			answer := toolinteraction.ToolResponse{Action: event.Action, ApprovalScope: event.ApprovalScope, Input: event.Input, Reason: event.Reason}
			reply, err := answer.Reply(rec.Interaction)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.resp.Answers, reply.Answers); d != "" && len(c.resp.Answers) > 0 {
				t.Errorf("read back (-want +got):\n%s", d)
			}
		})
	}
}

// TestComposites checks that a question without a field type in the protocol is
// shown and answered by its parts.
func TestComposites(t *testing.T) {
	t.Parallel()
	r := bridge.Request{Ask: bridge.Ask{Prompt: "?", Questions: []bridge.Question{
		{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: "x"},
		{ID: "form", Widget: bridge.WidgetForm, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"b":{"type":"boolean"}}}`)},
	}}}
	rec := dialecttest.Record(t, r, bridge.Response{})
	var ids []string
	for _, f := range toolinteraction.EncodeRequest(rec.Interaction, rec.Interaction.Created).InputSchema.Fields {
		ids = append(ids, f.ID+":"+f.Type)
	}
	if d := cmp.Diff([]string{"plan/decision:radio", "plan/feedback:textarea", "form/n:text", "form/b:checkbox"}, ids); d != "" {
		t.Error(d)
	}
	reply, err := toolinteraction.ToolResponse{Action: "submit", Input: map[string]bridge.Answer{
		"plan/decision": bridge.TextAnswer("approve"), "form/n": bridge.JSONAnswer("3"), "form/b": bridge.JSONAnswer("true"),
	}}.Reply(rec.Interaction)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bridge.Answer{"plan": bridge.JSONAnswer(`{"decision":"approve"}`), "form": bridge.JSONAnswer(`{"b":true,"n":3}`)}
	if d := cmp.Diff(want, reply.Answers); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"poll"}`:  `unknown type "poll"`,
		`{"type":"input"}`: "inputSchema.type",
		`{"type":"interaction_request","interactionType":"poll"}`: "interactionType: ",
		`{"type":"approval","toolCallId":"a","callId":"b"}`:       "callId: ",
		`{`: "request: ",
		`{"type":"input","inputSchema":{"type":"form","fields":[]}}`:                           "fields: required",
		`{"type":"input","inputSchema":{"type":"form","fields":[{"id":"a","type":"slider"}]}}`: `unknown type "slider"`,
	} {
		if _, err := toolinteraction.DecodeRequest([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	r, err := toolinteraction.DecodeRequest([]byte(cases["ask_user"].in))
	if err != nil {
		t.Fatal(err)
	}
	i := dialecttest.Record(t, r, bridge.Response{}).Interaction
	for _, bad := range []toolinteraction.ToolResponse{{Action: "approve"}, {Action: "nonsense"}, {Action: "submit", Input: map[string]bridge.Answer{"other": bridge.TextAnswer("x")}}} {
		if _, err := bad.Reply(i); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// opened returns the interaction of a case.
func opened(t *testing.T, name string) bridge.Interaction {
	t.Helper()
	r, err := toolinteraction.DecodeRequest([]byte(cases[name].in))
	if err != nil {
		t.Fatal(err)
	}
	return dialecttest.Record(t, r, bridge.Response{}).Interaction
}

// TestFor checks that an answer counts only for the request that it names.
func TestFor(t *testing.T) {
	t.Parallel()
	i := opened(t, "ask_user")
	for name, x := range map[string]struct {
		answer toolinteraction.ToolResponse
		valid  bool
	}{
		"nothing":                    {toolinteraction.ToolResponse{}, true},
		"all of it":                  {toolinteraction.ToolResponse{SessionID: "s", CallID: "call_1", ToolCallID: "call_1"}, true},
		"a session":                  {toolinteraction.ToolResponse{SessionID: "s"}, true},
		"another session":            {toolinteraction.ToolResponse{SessionID: "x", CallID: "call_1"}, false},
		"another call":               {toolinteraction.ToolResponse{SessionID: "s", CallID: "call_2"}, false},
		"another, as events name it": {toolinteraction.ToolResponse{ToolCallID: "call_2"}, false},
		"two calls":                  {toolinteraction.ToolResponse{CallID: "call_1", ToolCallID: "call_2"}, false},
	} {
		if err := x.answer.For(i); (err == nil) != x.valid || err != nil && bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v, valid is %t", name, err, x.valid)
		}
	}
}

// TestReply checks what an answer of a front end decides, and that it decides
// nothing that the request does not offer.
func TestReply(t *testing.T) {
	t.Parallel()
	approval, ask := opened(t, "approval"), opened(t, "every-field")
	own := approval
	own.Approval = new(*approval.Approval)
	own.Approval.AgentRemembers = false
	for name, x := range map[string]struct {
		i      bridge.Interaction
		answer toolinteraction.ToolResponse
		want   bridge.Reply
		fails  bool
	}{
		"approved":              {approval, toolinteraction.ToolResponse{Action: "approve", Confirm: "prod"}, bridge.Reply{Decision: bridge.DecideOnce, Confirm: "prod"}, false},
		"for the session":       {approval, toolinteraction.ToolResponse{Action: "approve", ApprovalScope: bridge.ScopeSession}, bridge.Reply{Decision: bridge.DecideSession}, false},
		"for longer than shown": {own, toolinteraction.ToolResponse{Action: "approve", ApprovalScope: bridge.ScopeAlways}, bridge.Reply{}, true},
		"in an unknown scope":   {approval, toolinteraction.ToolResponse{Action: "approve", ApprovalScope: "forever"}, bridge.Reply{}, true},
		"denied":                {approval, toolinteraction.ToolResponse{Action: "deny"}, bridge.Reply{Decision: bridge.DecideDeny}, false},
		"denied with a reason":  {approval, toolinteraction.ToolResponse{Action: "deny", Reason: "no"}, bridge.Reply{Decision: bridge.DecideDenyReason, Reason: "no"}, false},
		"closed":                {approval, toolinteraction.ToolResponse{Action: "cancel"}, bridge.Reply{Decision: bridge.DecideDeny}, false},
		"submitted":             {approval, toolinteraction.ToolResponse{Action: "submit"}, bridge.Reply{}, true},
		"an ask that is closed": {ask, toolinteraction.ToolResponse{Action: "cancel"}, bridge.Reply{Decline: true}, false},
		"an ask that is denied": {ask, toolinteraction.ToolResponse{Action: "deny"}, bridge.Reply{}, true},
		"values as texts": {ask, toolinteraction.ToolResponse{Action: "submit", Input: map[string]bridge.Answer{"a": bridge.JSONAnswer("7"), "d": bridge.JSONAnswer("true"), "e": bridge.TextAnswer("1,2")}},
			bridge.Reply{Answers: map[string]bridge.Answer{"a": bridge.TextAnswer("7"), "d": bridge.TextAnswer("true"), "e": bridge.ListAnswer("1", "2")}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := x.answer.Reply(x.i)
			if (err != nil) != x.fails || x.fails && bridge.ErrorCode(err) != bridge.CodeInvalid {
				t.Fatalf("%+v, %v; fails is %t", got, err, x.fails)
			}
			if d := cmp.Diff(x.want, got, cmpopts.EquateEmpty()); d != "" && !x.fails {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestEncodeRequest checks that an approval offers no scope that the event does not
// show, and the timeout that was asked for.
func TestEncodeRequest(t *testing.T) {
	t.Parallel()
	i := opened(t, "approval")
	i.Approval.AgentRemembers, i.ToolName, i.Approval.Tool = false, "", "rm"
	i.Stated = bridge.Times{Created: i.Created, Deadline: i.Created.Add(time.Minute)}
	i.Deadline = i.Created.Add(time.Hour) // deferred
	e := toolinteraction.EncodeRequest(i, i.Created)
	if !slices.Equal(e.ApprovalScopes, []bridge.Scope{bridge.ScopeOnce}) || e.ToolName != "rm" || e.TimeoutMs != 60_000 {
		t.Errorf("it offers %q of %q for %d ms; want once of rm for 60000 ms", e.ApprovalScopes, e.ToolName, e.TimeoutMs)
	}
}

// TestAnswerNames checks that problems with an answer have the names of the fields
// that the front end was shown.
func TestAnswerNames(t *testing.T) {
	t.Parallel()
	names := toolinteraction.AnswerNames(opened(t, "every-field"))
	for field, want := range map[string]string{
		"decision": "approvalScope", "decline": "action", "answers": "input", "answers.a": "input.a", "answers.x": "answers.x", "reason": "reason",
	} {
		if got := names(bridge.FieldError{Field: field}).Field; got != want {
			t.Errorf("%s is named %s, want %s", field, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in, `{"type":"tool_interaction_response","action":"submit","input":{"answer":"x","d":true,"n":3}}`)
	}
	f.Fuzz(func(t *testing.T, in, answer string) {
		r, err := toolinteraction.DecodeRequest([]byte(in))
		if err != nil || r.Normalize() != nil {
			return
		}
		i := bridge.Interaction{Ask: bridge.Ask{
			Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions, Approval: r.Approval, Initial: r.Initial,
		}}
		if _, err := dialect.Encode(toolinteraction.EncodeRequest(i, i.Created)); err != nil {
			t.Error(err)
		}
		var tr toolinteraction.ToolResponse
		if json.Unmarshal([]byte(answer), &tr) == nil {
			_, _ = tr.Reply(i) // checks that it does not panic
		}
	})
}
