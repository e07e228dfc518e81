package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestDecideInHomeTab checks that a person decides a request in the Home tab of
// the Slack app, and that the tab then lists the decision.
func TestDecideInHomeTab(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	home := func(who string) string {
		t.Helper()
		said, err := r.Sandbox.Person(who).Home(r.Ctx)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	tab := func() sandbox.ViewState {
		for _, v := range r.Sandbox.State().Slack.Homes {
			if v.User == "U0ANA00001" {
				return v
			}
		}
		return sandbox.ViewState{}
	}
	home("ana")
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	a.On("slack")
	if said := home("mal"); strings.Contains(said, "make deploy") {
		t.Errorf("mal reads %s", said)
	}
	var run sandbox.Control
	r.Eventually("the open tab offers the decision", func() bool {
		for _, c := range sandbox.Controls("slack", tab().View) {
			if c.Label == render.LabelRun {
				run = c
			}
		}
		return run.ID != ""
	})
	if _, err := r.Sandbox.Act(r.Ctx, sandbox.Action{Service: "slack", As: "ana", Do: "press", View: tab().ID, Control: run.ID}); err != nil {
		t.Fatal(err)
	}
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Response.Actor.Person != "ana" {
		t.Errorf("the request is %+v", rec.Response)
	}
	r.Eventually("the tab lists the decision", func() bool {
		said := sandbox.Texts(tab().View)
		return strings.Contains(said, "No pending requests") && strings.Contains(said, "Approved by ana: Run make deploy")
	})
}
