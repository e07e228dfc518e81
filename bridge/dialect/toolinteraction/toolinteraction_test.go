package toolinteraction_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
