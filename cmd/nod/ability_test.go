package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestAbilities answers approvals in the ways that only some agents can take,
// on every platform.
func TestAbilities(t *testing.T) {
	t.Parallel()
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(service)})
			for _, c := range []struct {
				name string
				test func(r *rig, service string)
			}{
				{"edited, then approved", edited}, {"typed to confirm", confirmed}, {"denied for ever", deniedAlways},
				{"denied and stopped", deniedStop}, {"nothing that the agent can not take", onlyPlain},
			} {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.t = t
					c.test(&sub, service)
				})
			}
		})
	}
}

func able(change func(*bridge.Approval)) bridge.Request {
	req := approval()
	change(req.Approval)
	return req
}

// typedAgain types into the native input once more after it was refused.
func (a asked) typedAgain(service, label, text string) {
	r := a.r
	r.t.Helper()
	switch service {
	case "slack":
		reaction, err := r.sandbox.Person("ana").Fill(r.ctx, service, r.sandbox.State().Slack.Views[0].ID, []string{text})
		must(r.t, reaction, err)
	case "discord":
		r.typed("ana", a.on(service), label, text)
	default:
		answerPrompt(r, a, text)
	}
}

func edited(r *rig, s string) {
	a := r.ask(able(func(p *bridge.Approval) {
		p.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
	}))
	r.typed("ana", a.on(s), "Edit", "make test")
	a.pending(s)
	a.typedAgain(s, "Edit", `{"command": "make test"}`)
	got := a.end()
	if got.State != bridge.StateApproved || string(got.Response.Input) != `{"command":"make test"}` || got.Response.Scope != bridge.ScopeOnce {
		r.t.Errorf("%s %+v", got.State, got.Response)
	}
	a.closed("Approved with changes", "make deploy", "make test")
	long := r.ask(able(func(p *bridge.Approval) {
		p.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
		p.Input, _ = json.Marshal(map[string]string{"command": strings.Repeat("x", bridge.DefaultMaxLength)})
	}))
	if slices.Contains(long.Interaction.Decisions(), bridge.DecideEdit) {
		r.t.Error("an input that no native input holds can be edited")
	}
}

func confirmed(r *rig, s string) {
	a := r.ask(able(func(p *bridge.Approval) { p.Confirm = "prod-db" }))
	r.typed("ana", a.on(s), "Allow once", "prod")
	a.pending(s)
	a.typedAgain(s, "Allow once", "prod-db")
	if got := a.end(); got.State != bridge.StateApproved {
		r.t.Errorf("%s %+v", got.State, got.Response)
	}
	a = r.ask(able(func(p *bridge.Approval) { p.Confirm = "prod-db" }))
	r.press("ana", a.on(s), "Deny")
	if got := a.end(); got.State != bridge.StateDenied {
		r.t.Errorf("a denial wants to be confirmed: %s", got.State)
	}
}

func deniedAlways(r *rig, s string) {
	a := r.ask(able(func(p *bridge.Approval) {
		p.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyAlways, bridge.DecideOnce}
	}))
	r.press("ana", a.on(s), "Always deny")
	if got := a.end(); got.State != bridge.StateDenied || got.Response.Scope != bridge.ScopeAlways || got.Response.Stop {
		r.t.Errorf("%s %+v", got.State, got.Response)
	}
	a.closed("Always denied")
}

func deniedStop(r *rig, s string) {
	a := r.ask(able(func(p *bridge.Approval) { p.Decisions = []bridge.Decision{bridge.DecideDenyStop, bridge.DecideOnce} }))
	r.press("ana", a.on(s), "Deny and stop")
	if got := a.end(); got.State != bridge.StateDenied || !got.Response.Stop {
		r.t.Errorf("%s %+v", got.State, got.Response)
	}
	a.closed("Denied, and the agent stopped")
}

func onlyPlain(r *rig, s string) {
	a := r.ask(able(func(p *bridge.Approval) { p.Decisions = []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny} }))
	var labels []string
	for _, c := range a.controls(s) {
		labels = append(labels, c.Label)
	}
	if !slices.Equal(labels, []string{"Deny", "Allow once"}) {
		r.t.Errorf("offered are %q", labels)
	}
	for _, d := range []bridge.Decision{bridge.DecideDenyReason, bridge.DecideSession, bridge.DecideEdit, bridge.DecideDenyStop} {
		if _, err := r.person.Respond(r.ctx, a.Interaction.ID, bridge.Reply{Decision: d}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			r.t.Errorf("%s: %v", d, err)
		}
	}
	r.press("ana", a.on(s), "Deny")
	a.end()
}
