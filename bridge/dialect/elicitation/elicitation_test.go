package elicitation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

const form = `{"message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}`

// exchange returns the only exchange of a message.
func exchange(t *testing.T, in string) dialect.Exchange {
	t.Helper()
	tr, err := elicitation.Translate([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Exchanges) != 1 || tr.Join != nil || tr.Answer != nil {
		t.Fatalf("it asks %+v", tr)
	}
	return tr.Exchanges[0]
}

// ended returns the result that the server receives when the request of an
// exchange is closed.
func ended(t *testing.T, x dialect.Exchange, r bridge.Response) string {
	t.Helper()
	out, err := x.Answer(dialecttest.Record(t, x.Request, r))
	if err != nil {
		t.Fatal(err)
	}
	b, err := dialect.Encode(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestForm checks that a form is shown as the server wrote it, with the name of
// the server, and that each outcome has the action that the protocol defines.
func TestForm(t *testing.T) {
	t.Parallel()
	x := exchange(t, form+"}")
	if x.Request.Prompt != "Who are you?" || !x.Request.Declinable || x.Request.Questions[0].Widget != bridge.WidgetForm {
		t.Errorf("it asks %+v", x.Request)
	}
	named := exchange(t, form+",\"serverName\":\"a`b\",\"mode\":\"form\"}")
	if r := named.Request; r.ToolName != "a`b" || !strings.HasSuffix(r.Prompt, "``a`b``") {
		t.Errorf("the server is shown as %q in %q", r.ToolName, r.Prompt)
	}
	if r := exchange(t, strings.Replace(form+"}", "Who are you?", " ", 1)).Request; strings.TrimSpace(r.Prompt) == "" {
		t.Error("an empty message results in an empty card")
	}
	filled := bridge.Response{Answers: map[string]bridge.Answer{"elicitation": {JSON: json.RawMessage(`{"name":"ana"}`)}}}
	for want, r := range map[string]bridge.Response{
		`{"action":"accept","content":{"name":"ana"}}`: filled,
		`{"action":"accept","content":{}}`:             {},
		`{"action":"decline"}`:                         {State: bridge.StateCancelled},
		`{"action":"cancel"}`:                          {State: bridge.StateExpired},
	} {
		if got := ended(t, x, r); got != want {
			t.Errorf("%s ends as %s, want %s", r.State, got, want)
		}
	}
}

// TestWithdrawn checks that a request that the agent cancelled has the action
// cancel, because no person declined it.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	x := exchange(t, form+"}")
	rec := dialecttest.Record(t, x.Request, bridge.Response{State: bridge.StateCancelled})
	rec.Response.Actor = nil
	if got := elicitation.Answer(rec); got.Action != elicitation.Cancel {
		t.Errorf("it ends as %s", got.Action)
	}
}

// TestURL checks that people see the URL to open, and confirm when they have
// finished there.
func TestURL(t *testing.T) {
	t.Parallel()
	const url = "https://example.com/login?a=1&b=2"
	x := exchange(t, `{"mode":"url","message":"Log in","url":"`+url+`"}`)
	q := x.Request.Questions[0]
	if !strings.Contains(x.Request.Prompt, "\n"+url+"\n") || q.Widget != bridge.WidgetButtons || len(q.Options) != 1 {
		t.Errorf("it asks %+v", x.Request)
	}
	got := ended(t, x, bridge.Response{Answers: map[string]bridge.Answer{q.ID: bridge.TextAnswer("done")}})
	if d := cmp.Diff(`{"action":"accept"}`, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestRefused checks that nod rejects a request for a secret, or one that it
// cannot show.
func TestRefused(t *testing.T) {
	t.Parallel()
	with := func(name, property string) string {
		return `{"message":"?","requestedSchema":{"properties":{"` + name + `":` + property + `}}}`
	}
	for in, code := range map[string]bridge.Code{
		with("password", `{}`):                           bridge.CodeUnsupported,
		with("db_password", `{}`):                        bridge.CodeUnsupported,
		with("x", `{"title":"Your API key"}`):            bridge.CodeUnsupported,
		with("x", `{"format":"password"}`):               bridge.CodeUnsupported,
		with("x", `{"writeOnly":true}`):                  bridge.CodeUnsupported,
		with("spinning", `{"title":"Secretary","x":[]}`): "",
		`{"mode":"video","message":"?"}`:                 bridge.CodeUnsupported,
		`{"mode":"url","message":"?"}`:                   bridge.CodeInvalid,
		`{"message":1}`:                                  bridge.CodeInvalid,
		`{"message":"?","message":"!"}`:                  bridge.CodeInvalid,
		`{"message":"?","requestedSchema":[]}`:           bridge.CodeInvalid,
		`{`:                                              bridge.CodeInvalid,
	} {
		_, err := elicitation.Translate([]byte(in))
		if code == "" && err != nil || code != "" && bridge.ErrorCode(err) != code {
			t.Errorf("%s: %v, want %q", in, err, code)
		}
	}
}
