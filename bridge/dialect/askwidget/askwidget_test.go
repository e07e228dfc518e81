package askwidget_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "golden")
	for name, c := range map[string]struct {
		in     string
		decode func([]byte) (bridge.Request, error)
		resp   bridge.Response
		encode func(string, bridge.Record) ([]byte, error)
	}{
		"call-buttons": {
			`{"resource":"message","action":"ask","prompt":"Which option do you prefer?","widgets":[{"type":"buttons","label":"Choose one:","options":["Option A","Option B","Option C"]}]}`,
			askwidget.DecodeCall, answers("w1", bridge.TextAnswer("Option B")), value,
		},
		"call-default": {
			`{"resource":"message","action":"ask","text":"Should I proceed with the deployment?"}`,
			askwidget.DecodeCall, answers("w1", bridge.TextAnswer("Yes")), value,
		},
		"ask-select": {
			`{"prompt":"Where?","widgets":[{"type":"select","options":["eu","us"],"default":"us"}]}`,
			askwidget.DecodeAsk, answers("w1", bridge.TextAnswer("eu")), askwidget.EncodeAnswer,
		},
		"ask-radio": {
			`{"prompt":"Where <now>?","widgets":[{"type":"radio","options":["a & b","c"]}]}`,
			askwidget.DecodeAsk, answers("w1", bridge.TextAnswer("a & b")), askwidget.EncodeAnswer,
		},
		"ask-checkbox": {
			`{"prompt":"Which?","widgets":[{"type":"checkbox","label":"Some:","options":["api","web","cron"],"default":"web"}]}`,
			askwidget.DecodeAsk, answers("w1", bridge.ListAnswer("api", "cron")), askwidget.EncodeAnswer,
		},
		"ask-confirm-of-three": {
			`{"prompt":"Sure?","widgets":[{"type":"confirm","options":["Yes","No","Later"]}]}`,
			askwidget.DecodeAsk, answers("w1", bridge.TextAnswer("Later")), askwidget.EncodeAnswer,
		},
		"ask-two-widgets": {
			`{"prompt":"Two things","widgets":[{"type":"select","label":"Where?","options":["eu","us"]},{"type":"checkbox","label":"What?","options":["x","y"]}]}`,
			askwidget.DecodeAsk, both(), askwidget.EncodeAnswer,
		},
		"approval-always": {
			`{"tool":"bash","input":{"command":"git push"}}`,
			askwidget.DecodeApproval, bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways}, askwidget.EncodeDecision,
		},
		"approval-once": {
			`{"tool":"file","input":{"path":"/etc/hosts"}}`,
			askwidget.DecodeApproval, bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}, askwidget.EncodeDecision,
		},
		"approval-denied": {
			`{"tool":"bash","input":{"command":"rm"}}`,
			askwidget.DecodeApproval, bridge.Response{State: bridge.StateDenied, Reason: "no"}, askwidget.EncodeDecision,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := c.decode([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.encode("req-1", dialecttest.Record(t, r, c.resp))
			if err != nil {
				t.Fatal(err)
			}
			book.Add(t, name, c.in, string(out), r)
		})
	}
}

func answers(id string, a bridge.Answer) bridge.Response {
	return bridge.Response{Answers: map[string]bridge.Answer{id: a}}
}

func both() bridge.Response {
	return bridge.Response{Answers: map[string]bridge.Answer{"w1": bridge.TextAnswer("us"), "w2": bridge.ListAnswer("x", "y")}}
}

func value(_ string, r bridge.Record) ([]byte, error) {
	v, err := askwidget.Value(r)
	return []byte(v), err
}

func TestContentBlock(t *testing.T) {
	t.Parallel()
	r, err := askwidget.DecodeAsk([]byte(`{"prompt":"Where?","widgets":[{"type":"buttons","options":["eu","us"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := dialect.Encode(askwidget.ContentBlock("req-1", dialecttest.Record(t, r, answers("w1", bridge.TextAnswer("eu")))))
	if want := `{"type":"ask","askRequestId":"req-1","askPrompt":"Where?","askWidgets":[{"type":"buttons","options":["eu","us"]}],"askResponse":"eu"}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"widgets":[]}`: askwidget.ErrNoPrompt,
		`{"prompt":"x","widgets":[{"type":"slider"}]}`: `unknown type "slider"`,
		`{"prompt":7}`: "payload.prompt: is a number",
		`{} {}`:        "followed by more data",
		``:             "is empty",
	} {
		if _, err := askwidget.DecodeAsk([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	if _, err := askwidget.DecodeCall([]byte(`{"resource":"file","action":"ask","prompt":"x"}`)); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Error(err)
	}
	expired := dialecttest.Record(t, bridge.Request{Ask: bridge.Ask{
		Prompt: "x",
	}}, bridge.Response{State: bridge.StateExpired})
	if _, err := askwidget.EncodeAnswer("x", expired); err == nil {
		t.Error("a request without a response is encoded as an answer")
	}
	if _, err := askwidget.EncodeDecision("x", expired); err == nil {
		t.Error("a request without a response is encoded as a decision")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"prompt":"Which?","widgets":[{"type":"checkbox","options":["a","b"],"default":"a"}]}`, "a,b")
	f.Add(`{"resource":"message","action":"ask","prompt":"x"}`, "Yes")
	f.Fuzz(func(t *testing.T, in, value string) {
		for _, decode := range []func([]byte) (bridge.Request, error){askwidget.DecodeAsk, askwidget.DecodeCall, askwidget.DecodeApproval} {
			r, err := decode([]byte(in))
			if err != nil || r.Normalize() != nil {
				continue
			}
			i := bridge.Interaction{Ask: bridge.Ask{
				Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions, Approval: r.Approval,
			}}
			raw, ok, err := askwidget.EncodeRequest("req-1", bridge.Record{Interaction: i})
			if err != nil || ok && !json.Valid(raw) {
				t.Errorf("shown as %s, %v", raw, err)
			}
			_, _ = askwidget.DecodeAnswer(i, askwidget.Answer{Value: value}) // checks that it does not panic
		}
	})
}
