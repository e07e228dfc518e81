package langchain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
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
		`{}`: "action_requests", `{"actionRequests":[{"args":{}}]}`: "name", `{"action_requests":[{"name":"x"}],"review_configs":[{"action_name":"x","allowed_decisions":["dance"]}]}`: "dance",
	} {
		if _, err := langchain.HITL([]byte(in)); err == nil || !strings.Contains(bridge.PublicError(err).Message, word) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, word := range map[string]string{`{}`: "action", `[]`: "0 items", `{"action_request":{"action":"x"},"config":{}}`: "config"} {
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
