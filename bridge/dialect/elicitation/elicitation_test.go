package elicitation_test

import (
	"encoding/json"
	"errors"
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
	} {
		if got := ended(t, x, r); got != want {
			t.Errorf("%s ends as %s, want %s", r.State, got, want)
		}
	}
}

// TestNoOneAnswered checks that a request that no person answered has no action,
// because each says that a person did something.
func TestNoOneAnswered(t *testing.T) {
	t.Parallel()
	x := exchange(t, form+"}")
	for _, state := range []bridge.State{bridge.StateCancelled, bridge.StateExpired, bridge.StateUndeliverable, bridge.StateSuperseded} {
		rec := dialecttest.Record(t, x.Request, bridge.Response{State: state})
		rec.Response.Actor = nil
		got, err := elicitation.Answer(rec)
		if _, ended := errors.AsType[*bridge.EndedError](err); !ended {
			t.Errorf("%s ends as %s, %v", state, got.Action, err)
		}
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
		with("password", `{}`):                                                    bridge.CodeUnsupported,
		with("db_password", `{}`):                                                 bridge.CodeUnsupported,
		with("x", `{"title":"Your API key"}`):                                     bridge.CodeUnsupported,
		with("x", `{"format":"password"}`):                                        bridge.CodeUnsupported,
		with("x", `{"writeOnly":true}`):                                           bridge.CodeUnsupported,
		with("spinning", `{"title":"Secretary","x":[]}`):                          "",
		`{"mode":"video","message":"?"}`:                                          bridge.CodeUnsupported,
		`{"message":"?","requestedSchema":{"allOf":[{"properties":{"pin":{}}}]}}`: bridge.CodeUnsupported,
		`{"message":"?"}`:                                                         "",
		`{"mode":"url","message":"?"}`:                                            bridge.CodeInvalid,
		`{"message":1}`:                                                           bridge.CodeInvalid,
		`{"message":"?","message":"!"}`:                                           bridge.CodeInvalid,
		`{"message":"?","requestedSchema":[]}`:                                    bridge.CodeInvalid,
		`{`:                                                                       bridge.CodeInvalid,
	} {
		_, err := elicitation.Translate([]byte(in))
		if code == "" && err != nil || code != "" && bridge.ErrorCode(err) != code {
			t.Errorf("%s: %v, want %q", in, err, code)
		}
	}
}

// TestURLs checks the URLs that a card shows, and that nothing in them changes the
// card.
func TestURLs(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		"https://example.com/login?x=1#y": true, "http://localhost:8080/": true, "https://xn--e1awd7f.com/%20": true, "HTTPS://example.com": true,
		"javascript:alert(1)": false, "data:text/html,x": false, "file:///etc/passwd": false, "https://example.com@evil.com/": false, "https://example.com:x@evil.com/": false,
		"https://example.com/\n```\n**bold** [x](y)\n```": false, "https://example.com/```": false, "https://example.com/a b": false, " https://example.com": false,
		"https://ex\u0430mple.com/": false, "https://example.com/%zz": false, "https://example.com\\@evil.com/": false, "https:///x": false, "//example.com": false, "example.com": false, "": false,
		"https://example.com/\u202etxt": false, "https://example.com/\t": false,
	} {
		raw, err := json.Marshal(map[string]string{"mode": "url", "message": "Sign in", "url": in})
		if err != nil {
			t.Fatal(err)
		}
		tr, err := elicitation.Translate(raw)
		if (err == nil) != ok {
			t.Errorf("%q: %v", in, err)
		}
		if err != nil {
			if !strings.HasPrefix(bridge.PublicError(err).Message, "url: ") {
				t.Errorf("%q: %v does not name the field", in, err)
			}
			continue
		}
		if prompt := tr.Exchanges[0].Request.Prompt; !strings.HasSuffix(prompt, "```\n"+in+"\n```") {
			t.Errorf("%q: %q", in, prompt)
		}
	}
}

// TestMessage checks that the message of the protocol is read like its
// parameters.
func TestMessage(t *testing.T) {
	t.Parallel()
	const params = `{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`
	plain, err := elicitation.Translate([]byte(params))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := elicitation.Translate([]byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":` + params + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := plain.Exchanges[0].Request, whole.Exchanges[0].Request; a.Prompt != b.Prompt || string(a.Questions[0].Schema) != string(b.Questions[0].Schema) {
		t.Errorf("%+v, want %+v", b, a)
	}
	if _, err := elicitation.Translate([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)); bridge.ErrorCode(err) != bridge.CodeUnsupported {
		t.Errorf("another method: %v", err)
	}
}
