package askwidget_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

// TestWidgets checks that a front end gets the widgets as the agent sent them.
func TestWidgets(t *testing.T) {
	t.Parallel()
	sent := []askwidget.Widget{
		{Type: "buttons", Options: []string{"a", "b"}, Default: "b"},
		{Type: "confirm", Label: "Sure?", Options: []string{"Yes", "No"}},
		{Type: "checkbox", Options: []string{"x", "y, z", "w"}, Default: "x,w"},
		{Type: "select", Label: "Where?", Options: []string{"eu", "us"}},
		{Type: "radio", Options: []string{"one"}},
	}
	r, err := askwidget.Ask{Prompt: "Five things", Widgets: sent}.Request()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := askwidget.Widgets(dialecttest.Record(t, r, bridge.Response{State: bridge.StateExpired}).Interaction)
	if d := cmp.Diff(sent, got); !ok || d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestEveryAnswerNamed checks that a problem with each line of an answer is named.
func TestEveryAnswerNamed(t *testing.T) {
	t.Parallel()
	r, err := askwidget.Ask{Prompt: "?", Widgets: []askwidget.Widget{{Type: "radio", Options: []string{"a"}}, {Type: "confirm"}}}.Request()
	if err != nil {
		t.Fatal(err)
	}
	i := dialecttest.Record(t, r, bridge.Response{State: bridge.StateExpired}).Interaction
	_, err = askwidget.DecodeAnswer(i, askwidget.Answer{Value: "z\nMaybe"})
	want := `value: line 1: "z" is not one of the options; value: line 2: "Maybe" is not one of the options`
	if got := bridge.PublicError(dialect.Named(err, askwidget.AnswerNames(i))).Message; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNobody checks that an agent reads the text of the tool, and the reason, if its
// request is undeliverable.
func TestNobody(t *testing.T) {
	t.Parallel()
	r, err := askwidget.DecodeCall([]byte(`{"resource":"message","action":"ask","prompt":"Anybody?"}`))
	if err != nil {
		t.Fatal(err)
	}
	rec := dialecttest.Record(t, r, bridge.Response{State: bridge.StateUndeliverable, Reason: "slack: the channel is archived"})
	_, err = askwidget.Value(rec)
	if want := askwidget.ErrNobody + ": slack: the channel is archived"; bridge.ErrorCode(err) != bridge.CodeUnavailable || bridge.PublicError(err).Message != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestAnswerNames checks that a problem with an answer names the value of the
// ask_response, and the line of the widget.
func TestAnswerNames(t *testing.T) {
	t.Parallel()
	ask := func(n int) bridge.Interaction {
		r, err := askwidget.Ask{Prompt: "?", Widgets: make([]askwidget.Widget, 0)}.Request()
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k < n; k++ {
			q := r.Questions[0]
			q.ID = fmt.Sprintf("w%d", k+1)
			r.Questions = append(r.Questions, q)
		}
		return bridge.Interaction{Ask: r.Ask}
	}
	in := bridge.FieldError{Field: "answers.w1", Message: "Choose one first."}
	if got := askwidget.AnswerNames(ask(1))(in); got != (bridge.FieldError{Field: "value", Message: in.Message}) {
		t.Errorf("one widget: %+v", got)
	}
	if got := askwidget.AnswerNames(ask(2))(in); got != (bridge.FieldError{Field: "value", Message: "line 1: " + in.Message}) {
		t.Errorf("two widgets: %+v", got)
	}
}

// people answers every request at once.
type people struct{ bridge.Asker }

func (people) Ask(_ context.Context, r bridge.Request, _ string) (bridge.Record, error) {
	err := r.Normalize()
	rec := bridge.Record{Interaction: bridge.Interaction{Ask: r.Ask}, State: bridge.StateApproved, Response: &bridge.Response{Scope: bridge.ScopeOnce}}
	if r.Kind == bridge.KindAsk {
		rec.State = bridge.StateAnswered
		rec.Response.Answers = map[string]bridge.Answer{"w1": bridge.TextAnswer(r.Questions[0].Options[0].Value)}
	}
	return rec, err
}

// The callbacks of the agent's tools take nod instead of a browser. A client
// from bridge/client is such an asker.
func Example() {
	var nod people
	askCallback := func(ctx context.Context, requestID, prompt string, widgets []askwidget.Widget) (string, error) {
		r, err := askwidget.Ask{Prompt: prompt, Widgets: widgets}.Request()
		if err != nil {
			return "", err
		}
		rec, err := nod.Ask(ctx, r, requestID)
		if err != nil {
			return "", err
		}
		return askwidget.Value(rec)
	}
	approvalCallback := func(ctx context.Context, toolName string, input json.RawMessage) (bool, error) {
		raw, err := json.Marshal(askwidget.Approval{Tool: toolName, Input: input})
		if err != nil {
			return false, err
		}
		r, err := askwidget.DecodeApproval(raw)
		if err != nil {
			return false, err
		}
		rec, err := nod.Ask(ctx, r, "")
		return err == nil && rec.State == bridge.StateApproved, err
	}
	fmt.Println(askCallback(context.Background(), "3f6c0a52", "Which option do you prefer?", []askwidget.Widget{
		{Type: "buttons", Label: "Choose one:", Options: []string{"Option A", "Option B", "Option C"}},
	}))
	fmt.Println(askCallback(context.Background(), "3f6c0a53", " ", nil))
	fmt.Println(approvalCallback(context.Background(), "bash", json.RawMessage(strings.TrimSpace(` {"command":"git push"} `))))
	// Output:
	// Option A <nil>
	//  invalid: 'prompt' (or 'text') is required for ask action
	// true <nil>
}

// TestApprovals checks what a front end is shown of an approval, and what its
// decision and its outcome are.
func TestApprovals(t *testing.T) {
	t.Parallel()
	r, err := askwidget.DecodeApproval([]byte(`{"tool":"bash","input":{"command":"git push"}}`))
	if err != nil {
		t.Fatal(err)
	}
	own := r // nod keeps the grant, which the front end does not show
	own.Approval = new(*r.Approval)
	own.Approval.AgentRemembers = false
	for prompt, want := range map[string]string{r.Prompt: "", "Push to main?": "Push to main?"} {
		asked := r
		asked.Prompt = prompt
		raw, shown, err := askwidget.EncodeRequest("req-1", dialecttest.Record(t, asked, bridge.Response{State: bridge.StateApproved}))
		var f askwidget.Frame
		var a askwidget.Approval
		if err != nil || !shown || json.Unmarshal(raw, &f) != nil || json.Unmarshal(f.Payload, &a) != nil {
			t.Fatalf("%s, %t, %v", raw, shown, err)
		}
		if f.Type != askwidget.ApprovalRequest || a.Tool != "bash" || a.Prompt != want || string(a.Input) != `{"command":"git push"}` {
			t.Errorf("it shows %s, want the prompt %q", raw, want)
		}
	}
	for name, x := range map[string]struct {
		r     bridge.Request
		d     askwidget.Decision
		want  bridge.Decision
		fails bool
	}{
		"denied":             {r, askwidget.Decision{}, bridge.DecideDeny, false},
		"denied always":      {r, askwidget.Decision{Always: true}, bridge.DecideDeny, false},
		"approved":           {r, askwidget.Decision{Approved: true, Confirm: "main"}, bridge.DecideOnce, false},
		"approved always":    {r, askwidget.Decision{Approved: true, Always: true}, bridge.DecideAlways, false},
		"more than is shown": {own, askwidget.Decision{Approved: true, Always: true}, bridge.DecideAlways, true},
	} {
		i := dialecttest.Record(t, x.r, bridge.Response{State: bridge.StateApproved}).Interaction
		got, err := askwidget.DecodeDecision(i, x.d)
		if got.Decision != x.want || got.Confirm != x.d.Confirm || (err != nil) != x.fails {
			t.Errorf("%s: %+v, %v; want %q, fails is %t", name, got, err, x.want, x.fails)
		}
	}
	for name, x := range map[string]struct {
		resp bridge.Response
		want askwidget.Decision
	}{
		"once":   {bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}, askwidget.Decision{RequestID: "req-1", Approved: true}},
		"always": {bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways}, askwidget.Decision{RequestID: "req-1", Approved: true, Always: true}},
		"denied": {bridge.Response{State: bridge.StateDenied}, askwidget.Decision{RequestID: "req-1"}},
	} {
		raw, err := askwidget.EncodeResponse("req-1", dialecttest.Record(t, r, x.resp))
		var f askwidget.Frame
		var got askwidget.Decision
		if err != nil || json.Unmarshal(raw, &f) != nil || json.Unmarshal(f.Payload, &got) != nil || f.Type != askwidget.ApprovalResponse || got != x.want {
			t.Errorf("%s: %s, %v, want %+v", name, raw, err, x.want)
		}
	}
	if raw, err := askwidget.EncodeResponse("req-1", dialecttest.Record(t, r, bridge.Response{State: bridge.StateExpired})); err == nil {
		t.Errorf("a request without a response has the outcome %s", raw)
	}
}
