package daemon_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
)

// TestClientReattaches checks that a client keeps waiting across a restart of
// the daemon.
func TestClientReattaches(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(rig.Approval())
	done := make(chan bridge.Record, 1)
	go func() {
		rec, err := r.Agent.Wait(r.Ctx, a.Interaction.ID)
		if err != nil {
			t.Error(err)
		}
		done <- rec
	}()
	address := strings.TrimPrefix(r.Daemons[0].URL, "http://")
	r.Daemons[0].Stop()
	r.Daemons = nil
	r.Start(rig.ListenOn(t, address))
	r.Connected()
	r.Press("ana", a.On("slack"), "Run command")
	select {
	case rec := <-done:
		if rec.State != bridge.StateApproved {
			t.Errorf("state %s", rec.State)
		}
	case <-time.After(rig.Patience):
		t.Fatal("the client never came back")
	}
}

// TestAPIRefuses checks who may call which part of the API, and that invalid
// bodies change nothing.
func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(rig.Approval())
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
	if _, err := r.Person.Open(r.Ctx, rig.Approval(), ""); bridge.ErrorCode(err) != bridge.CodeForbidden {
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
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	req := rig.One(bridge.WidgetCheckbox)
	for n := range 200 {
		req.Questions[0].Options = append(req.Questions[0].Options, bridge.Option{Value: fmt.Sprint("v", n)})
	}
	_, err := r.Agent.Open(r.Ctx, req, "")
	if bridge.ErrorCode(err) != bridge.CodeUnsupported || !strings.Contains(err.Error(), "125") {
		t.Errorf("got %v", err)
	}
	page, err := r.Agent.List(r.Ctx, bridge.ListFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d stored, %v", len(page.Items), err)
	}
}

// TestSessionCancel checks that cancelling a session cancels its requests and
// revokes its grants.
func TestSessionCancel(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack", "telegram")})
	req := rig.Approval(bridge.ScopeSession)
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
		x.Closed("Withdrawn", "the run was aborted")
	}
	if c := r.Ask(req); c.State != bridge.StatePending {
		t.Errorf("the grant outlived its session: %s", c.State)
	}
}
