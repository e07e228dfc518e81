package daemon_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
)

// TestAbilities checks, on every platform, the decisions that only some agents
// support.
func TestAbilities(t *testing.T) {
	t.Parallel()
	for _, service := range rig.Services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(service)})
			for _, c := range []struct {
				name string
				test func(r *rig.Rig, service string)
			}{
				{"edited, then approved", edited}, {"typed to confirm", confirmed}, {"denied for ever", deniedAlways},
				{"denied and stopped", deniedStop}, {"only supported decisions are offered", onlyPlain},
			} {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.T = t
					c.test(&sub, service)
				})
			}
		})
	}
}

func able(change func(*bridge.Approval)) bridge.Request {
	req := rig.Approval()
	change(req.Approval)
	return req
}

// typedAgain enters text into the native input again after it was rejected.
func typedAgain(a rig.Asked, service, label, text string) {
	r := a.R
	r.T.Helper()
	switch service {
	case "slack":
		reaction, err := r.Sandbox.Person("ana").Fill(r.Ctx, service, r.Sandbox.State().Slack.Views[0].ID, []string{text})
		rig.Must(r.T, reaction, err)
	case "discord":
		r.Typed("ana", a.On(service), label, text)
	default:
		answerPrompt(r, a, text)
	}
}

func edited(r *rig.Rig, s string) {
	a := r.Ask(able(func(p *bridge.Approval) {
		p.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
	}))
	r.Typed("ana", a.On(s), "Edit", "make test")
	a.Pending(s)
	typedAgain(a, s, "Edit", `{"command": "make test"}`)
	got := a.End()
	if got.State != bridge.StateApproved || string(got.Response.Input) != `{"command":"make test"}` || got.Response.Scope != bridge.ScopeOnce {
		r.T.Errorf("%s %+v", got.State, got.Response)
	}
	a.Closed("Approved with changes", "make deploy", "make test")
	long := r.Ask(able(func(p *bridge.Approval) {
		p.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
		p.Input, _ = json.Marshal(map[string]string{"command": strings.Repeat("x", bridge.DefaultMaxLength)})
	}))
	if slices.Contains(long.Interaction.Decisions(), bridge.DecideEdit) {
		r.T.Error("an input that no native input can hold can be edited")
	}
}

func confirmed(r *rig.Rig, s string) {
	a := r.Ask(able(func(p *bridge.Approval) { p.Confirm = "prod-db" }))
	r.Typed("ana", a.On(s), "Run command", "prod")
	a.Pending(s)
	typedAgain(a, s, "Run command", "prod-db")
	if got := a.End(); got.State != bridge.StateApproved {
		r.T.Errorf("%s %+v", got.State, got.Response)
	}
	a = r.Ask(able(func(p *bridge.Approval) { p.Confirm = "prod-db" }))
	r.Press("ana", a.On(s), "Deny")
	if got := a.End(); got.State != bridge.StateDenied {
		r.T.Errorf("a denial requires a confirmation: %s", got.State)
	}
}

func deniedAlways(r *rig.Rig, s string) {
	a := r.Ask(able(func(p *bridge.Approval) {
		p.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyAlways, bridge.DecideOnce}
	}))
	r.Press("ana", a.On(s), "Always deny")
	if got := a.End(); got.State != bridge.StateDenied || got.Response.Scope != bridge.ScopeAlways || got.Response.Stop {
		r.T.Errorf("%s %+v", got.State, got.Response)
	}
	a.Closed("Always denied")
}

func deniedStop(r *rig.Rig, s string) {
	a := r.Ask(able(func(p *bridge.Approval) { p.Decisions = []bridge.Decision{bridge.DecideDenyStop, bridge.DecideOnce} }))
	r.Press("ana", a.On(s), "Deny and stop")
	if got := a.End(); got.State != bridge.StateDenied || !got.Response.Stop {
		r.T.Errorf("%s %+v", got.State, got.Response)
	}
	a.Closed("Denied, and the agent stopped")
}

func onlyPlain(r *rig.Rig, s string) {
	a := r.Ask(able(func(p *bridge.Approval) { p.Decisions = []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny} }))
	var labels []string
	for _, c := range a.Controls(s) {
		labels = append(labels, c.Label)
	}
	if !slices.Equal(labels, []string{"Deny", "Run command"}) {
		r.T.Errorf("the card offers %q", labels)
	}
	for _, d := range []bridge.Decision{bridge.DecideDenyReason, bridge.DecideSession, bridge.DecideEdit, bridge.DecideDenyStop} {
		if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Decision: d}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			r.T.Errorf("%s: %v", d, err)
		}
	}
	r.Press("ana", a.On(s), "Deny")
	a.End()
}
