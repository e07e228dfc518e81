package langchain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
	"github.com/nodbridge/nod/bridge/dialect/langchain"
)

const (
	python  = `{"action_requests":[{"name":"send_email","args":{"to":"a@b.c"},"description":"Tool execution requires approval"},{"name":"delete","args":{"id":7}},{"name":"send_email","args":{"to":"x@y.z"}}],"review_configs":[{"action_name":"send_email","allowed_decisions":["approve","edit","reject"],"args_schema":{}},{"action_name":"delete","allowed_decisions":["approve","reject"]}]}`
	js      = `{"actionRequests":[{"name":"send_email","args":{"to":"a@b.c"},"description":"Tool execution requires approval"}],"reviewConfigs":[{"actionName":"send_email","allowedDecisions":["approve","edit","reject"]}]}`
	inbox   = `[{"action_request":{"action":"send","args":{"to":"a@b.c","n":2}},"config":{"allow_ignore":true,"allow_respond":true,"allow_edit":true,"allow_accept":true},"description":"**Send** it?"}]`
	respond = `{"action_request":{"action":"question","args":{"q":"Why?"}},"config":{"allow_ignore":true,"allow_respond":true,"allow_edit":false,"allow_accept":false}}`
)

var (
	yes     = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}
	no      = bridge.Response{State: bridge.StateDenied, Reason: "wrong recipient"}
	edited  = bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce, Input: json.RawMessage(`{"to":"x@y.z","n":3}`)}
	silence = bridge.Response{State: bridge.StateExpired}
)

func TestHITL(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "hitl")
	for name, c := range map[string]struct {
		in    string
		resps []bridge.Response
	}{"python": {python, []bridge.Response{yes, no, edited}}, "js": {js, []bridge.Response{edited}}, "js-silence": {js, []bridge.Response{silence}}} {
		tr, err := langchain.HITL([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		book.Golden(t, name, c.in, tr, c.resps...)
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "inbox")
	for name, c := range map[string]struct {
		in   string
		resp bridge.Response
	}{
		"inbox-accept": {inbox, yes}, "inbox-edit": {inbox, edited}, "inbox-response": {inbox, no}, "inbox-ignore": {inbox, bridge.Response{State: bridge.StateDenied}},
		"inbox-silence": {inbox, silence}, "inbox-question": {respond, bridge.Response{Answers: map[string]bridge.Answer{"response": bridge.TextAnswer("because")}}},
		"inbox-question-ignored": {respond, bridge.Response{State: bridge.StateCancelled}},
	} {
		tr, err := langchain.Inbox([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		book.Golden(t, name, c.in, tr, c.resp)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for in, word := range map[string]string{
		`{}`: "action_requests", `{`: "interrupt", `{"actionRequests":[{"args":{}}]}`: "name", `{"action_requests":[{"name":"x"}],"review_configs":[{"action_name":"x","allowed_decisions":["dance"]}]}`: "dance",
	} {
		if _, err := langchain.HITL([]byte(in)); err == nil || !strings.Contains(bridge.PublicError(err).Message, word) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, word := range map[string]string{`{}`: "action", `[`: "interrupt", `{`: "interrupt", `[]`: "0 items", `{"action_request":{"action":"x"},"config":{}}`: "config"} {
		if _, err := langchain.Inbox([]byte(in)); err == nil || !strings.Contains(bridge.PublicError(err).Message, word) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzHITL(f *testing.F) {
	f.Add([]byte(python))
	f.Add([]byte(js))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := langchain.HITL(b)
		if err != nil {
			return
		}
		for _, x := range tr.Exchanges {
			r := x.Request
			if r.Normalize() == nil {
				_, _ = x.Answer(dialecttest.Record(t, x.Request, silence)) // checks that it does not panic
			}
		}
	})
}

// TestDecisions checks the decision for each list that a middleware may send.
func TestDecisions(t *testing.T) {
	t.Parallel()
	instead := bridge.Response{State: bridge.StateDenied, Respond: true, Reason: "use staging"}
	answered := bridge.Response{Answers: map[string]bridge.Answer{"response": bridge.TextAnswer("use staging")}}
	for _, c := range []struct {
		allowed string
		resp    bridge.Response
		want    string
	}{
		{`["approve","edit","reject","respond"]`, yes, `{"type":"approve"}`},
		{`["approve","edit","reject","respond"]`, no, `"type":"reject"`},
		{`["approve","edit","reject","respond"]`, instead, `{"type":"respond","message":"use staging"}`},
		{`["approve","respond"]`, instead, `{"type":"respond","message":"use staging"}`},
		{`["approve","respond"]`, no, `{"type":"respond","message":"wrong recipient"}`},
		{`["respond"]`, answered, `{"type":"respond","message":"use staging"}`},
		{`["respond","reject"]`, answered, `{"type":"respond","message":"use staging"}`},
		{`["respond","reject"]`, bridge.Response{State: bridge.StateCancelled}, `"type":"reject"`},
		{`["approve","delegate"]`, yes, `{"type":"approve"}`},
		{`["delegate"]`, yes, ""},
	} {
		in := `{"action_requests":[{"name":"deploy","args":{"to":"prod"}}],"review_configs":[{"action_name":"deploy","allowed_decisions":` + c.allowed + `}]}`
		tr, err := langchain.HITL([]byte(in))
		if c.want == "" {
			if bridge.ErrorCode(err) != bridge.CodeUnsupported {
				t.Errorf("%s: %v", c.allowed, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.allowed, err)
		}
		x := tr.Exchanges[0]
		out, err := x.Answer(dialecttest.Record(t, x.Request, c.resp))
		raw, _ := json.Marshal(out)
		if err != nil || !strings.Contains(string(raw), c.want) {
			t.Errorf("%s: %s, %v, want %s", c.allowed, raw, err, c.want)
		}
	}
}

// TestControls checks that a rejection and a response have a control each.
func TestControls(t *testing.T) {
	t.Parallel()
	hitl := func(allowed string) string {
		return `{"action_requests":[{"name":"deploy","args":{"to":"prod"}}],"review_configs":[{"action_name":"deploy","allowed_decisions":` + allowed + `}]}`
	}
	for _, c := range []struct {
		translate func([]byte) (dialect.Translation, error)
		in, want  string
	}{
		{langchain.HITL, hitl(`["approve","edit","reject","respond"]`), "[deny deny_reason respond once edit]"},
		{langchain.HITL, hitl(`["approve","respond"]`), "[respond once]"},
		{langchain.HITL, hitl(`["approve","reject"]`), "[deny deny_reason once]"},
		{langchain.Inbox, inbox, "[deny respond once edit]"},
	} {
		tr, err := c.translate([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Exchanges[0].Request
		if err := r.Normalize(); err != nil || fmt.Sprint(r.Approval.Decisions) != c.want {
			t.Errorf("%s: the card offers %v, %v, want %s", c.in, r.Approval.Decisions, err, c.want)
		}
	}
}

// TestDescription checks that the arguments are not shown twice, and that no other
// text is lost.
func TestDescription(t *testing.T) {
	t.Parallel()
	const args = `{"to":"it's \"a\"","n":1,"deep":[true,null,{"x":"l\nl"}]}`
	for name, c := range map[string]struct{ description, want, args string }{
		"Python":                    {"Tool execution requires approval\n\nTool: f\nArgs: {'to': 'it\\'s \"a\"', 'n': 1, 'deep': [True, None, {'x': 'l\\nl'}]}", "Tool execution requires approval", ""},
		"JavaScript":                {"Check\n\nTool: f\nArgs: {\n  \"to\": \"it's \\\"a\\\"\",\n  \"n\": 1, \"deep\": [true, null, {\"x\": \"l\\nl\"}]\n}", "Check", ""},
		"other args":                {"Check\n\nTool: f\nArgs: {'to': 'b'}", "Check\n\nTool: f\nArgs: {'to': 'b'}", ""},
		"more words":                {"Check\n\nTool: f\nArgs: {\"n\":1} and reboot", "Check\n\nTool: f\nArgs: {\"n\":1} and reboot", ""},
		"own words":                 {"Please **check**", "Please **check**", ""},
		"Python, in other quotes":   {"Check\n\nTool: f\nArgs: {'a': \"it's\", 'b': 't\\tr\\r\\\\'}", "Check", `{"a":"it's","b":"t\tr\r\\"}`},
		"Python, invisible":         {"Check\n\nTool: f\nArgs: {'a': 'x\u200b'}", "Check\n\nTool: f\nArgs: {'a': 'x\u200b'}", `{"a":"x\u200b"}`},
		"Python, an invisible name": {"Check\n\nTool: f\nArgs: {'\u200b': 1}", "Check\n\nTool: f\nArgs: {'\u200b': 1}", `{"\u200b":1}`},
	} {
		if c.args == "" {
			c.args = args
		}
		raw, err := json.Marshal(c.description)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := langchain.HITL([]byte(`{"action_requests":[{"name":"f","args":` + c.args + `,"description":` + string(raw) + `}]}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := tr.Exchanges[0].Request.Prompt; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
