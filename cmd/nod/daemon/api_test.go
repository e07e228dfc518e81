package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestClientReattaches checks that a client keeps waiting across a restart of
// the daemon.
func TestClientReattaches(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(samples.Approval())
	done := a.Caller()
	address := strings.TrimPrefix(r.Daemons[0].URL, "http://")
	r.Daemons[0].Stop()
	r.Daemons = nil
	r.Start(rig.ListenOn(t, address))
	r.Connected()
	r.Press("ana", a.On("slack"), "Run command")
	if rec := await.Receive(t, "the answer to the client", done); rec == nil || rec.State != bridge.StateApproved {
		t.Errorf("the client got %+v, want approved", rec)
	}
}

// TestAPIRefuses checks who may call which part of the API, and that invalid
// bodies change nothing.
func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(samples.Approval())
	other := rig.NewClient(r.Daemons[0].URL, rig.OtherAgentToken)
	if _, err := other.Get(r.Ctx, a.Interaction.ID); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("another agent's request: %v", err)
	}
	if _, err := other.Cancel(r.Ctx, a.Interaction.ID, ""); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("cancel by another agent: %v", err)
	}
	if _, err := r.Agent.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an agent answering: %v", err)
	}
	if _, err := r.Person.Open(r.Ctx, samples.Approval(), ""); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a person asking: %v", err)
	}
	if _, err := rig.NewClient(r.Daemons[0].URL, "nonsense").Get(r.Ctx, a.Interaction.ID); bridge.ErrorCode(err) != bridge.CodeUnauthenticated {
		t.Errorf("no token: %v", err)
	}
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Decision: "always"}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("an unavailable decision: %v", err)
	}
	header := http.Header{"Authorization": {"Bearer " + rig.TestAgentToken}}
	for body, want := range map[string]int{
		"":                             400,
		"{":                            400,
		`{"prompt":""}`:                400,
		`{"prompt":"x","promt":"y"}`:   400,
		`{"prompt":"x"} {}`:            400,
		`{"prompt":"x","timeout":"y"}`: 400,
		`{"prompt":"x","questions":[{"widget":"slider"}]}`:                      400,
		`{"prompt":"x","route":"nowhere"}`:                                      400,
		`{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`:                       400,
		fmt.Sprintf(`{"prompt":%q,"approval":{}}`, strings.Repeat("x ", 60000)): 400,
	} {
		if got := r.PostTo("/v1/interactions", header, body); got != want {
			t.Errorf("%.60s: %d, want %d", body, got, want)
		}
	}
	a.Pending("slack")
}

// TestUnsupportedIsRefusedBeforehand checks that a request that no destination
// can show is rejected and not stored.
func TestUnsupportedIsRefusedBeforehand(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		c.Console.Enabled = false // the console could show the form
	}})
	_, err := r.Agent.Open(r.Ctx, hugeForm(), "")
	if bridge.ErrorCode(err) != bridge.CodeUnsupported || !strings.Contains(err.Error(), "of 100 blocks") {
		t.Errorf("got %v", err)
	}
	page, err := r.Agent.List(r.Ctx, bridge.ListFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d stored, %v", len(page.Items), err)
	}
}

// hugeForm returns a form that no dialog of Slack can hold.
func hugeForm() bridge.Request {
	req := bridge.Request{Ask: bridge.Ask{Prompt: "Everything about the move"}}
	props := []string{}
	for n := range bridge.MaxFields {
		props = append(props, fmt.Sprintf(`"f%d":{"type":"string","title":"Field %d","description":%q}`, n, n, strings.Repeat("a long description ", 120)))
	}
	schema := `{"type":"object","properties":{` + strings.Join(props, ",") + `}}`
	req.Questions = []bridge.Question{{ID: "form", Widget: bridge.WidgetForm, Schema: json.RawMessage(schema)}}
	return req
}

// TestHugeForm checks that a form that Slack cannot hold refers to the console
// if it is on, and that every field of it is there.
func TestHugeForm(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		c.Console.Enabled, c.Console.URL = true, "https://nod.example.com/"
	}})
	a := r.Ask(hugeForm())
	for _, want := range []string{"too long for Slack", "https://nod.example.com/console/#/i/" + string(a.Interaction.ID)} {
		if text := a.Text("slack"); !strings.Contains(text, want) {
			t.Errorf("the card does not say %q: %.900s", want, text)
		}
	}
	if all := sandbox.Controls("slack", r.Sandbox.Message(a.On("slack"))); len(all) > 0 {
		t.Errorf("the card has the controls %v", all)
	}
	answers := map[string]string{}
	for n := range bridge.MaxFields {
		answers[fmt.Sprint("f", n)] = fmt.Sprint("text ", n)
	}
	raw, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	reply := bridge.Reply{Answers: map[string]bridge.Answer{"form": bridge.JSONAnswer(string(raw))}}
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, reply); err != nil {
		t.Fatal(err)
	}
	if got := a.End(); got.State != bridge.StateAnswered {
		t.Errorf("it is %s", got.State)
	}
}

// TestSessionCancel checks that cancelling a session cancels its requests and
// revokes its grants.
func TestSessionCancel(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack", "telegram")})
	req := samples.Approval(bridge.ScopeSession)
	granted := r.Ask(req)
	r.Decide("ana", granted.On("slack"), "session")
	granted.End()
	again, err := r.Agent.Open(r.Ctx, req, "")
	if err != nil || again.State != bridge.StateApproved {
		t.Fatalf("the grant does not apply: %s, %v", again.State, err)
	}
	other := req
	other.Approval = &bridge.Approval{Tool: "other"}
	a, b := r.Ask(other), r.Ask(other)
	if _, err := r.Agent.CancelSession(r.Ctx, req.Session, "the run was aborted"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []rig.Asked{a, b} {
		if got := x.End(); got.State != bridge.StateCancelled {
			t.Errorf("state %s", got.State)
		}
		x.Closed("Cancelled by", "the run was aborted")
	}
	if c := r.Ask(req); c.State != bridge.StatePending {
		t.Errorf("the grant outlived its session: %s", c.State)
	}
}
