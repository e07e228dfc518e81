package daemon_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// Delays of the steps in these tests. A step after later waits for Rig.Due, so
// that the cards are posted before it on every machine.
const (
	soon  = config.Duration(400 * time.Millisecond)
	later = config.Duration(time.Hour)
)

// inTime is the time limit of a request that expires while its test waits. Its cards
// are posted before that, on a busy machine too.
const inTime = 8 * time.Second

// texts returns the messages on a platform, including markup.
func texts(r *rig.Rig, service string) []string {
	var out []string
	for _, c := range r.Sandbox.Chats(service) {
		for _, m := range c.Messages {
			out = append(out, sandbox.Texts(m))
		}
	}
	return out
}

// messages returns the number of messages on a platform that contain a text.
// Platforms escape some characters in their own way.
func messages(r *rig.Rig, service, text string) int {
	n := 0
	for _, m := range texts(r, service) {
		if strings.Contains(strings.ReplaceAll(m, "\\", ""), text) {
			n++
		}
	}
	return n
}

// TestEscalation checks that each step runs exactly once while no one answers,
// although two daemons run, and that people who are asked later can answer.
func TestEscalation(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: func(c *config.Config) {
		c.OnCall = map[string]config.OnCall{"primary": {Rotation: &config.Rotation{People: []string{"cy"}, Start: time.Now().Add(-time.Hour), Every: config.Duration(24 * time.Hour)}}}
		c.Groups = map[string]config.Group{"oncall": {OnCall: "primary"}}
		c.Routes["wide"] = config.Route{To: []string{"slack:C0ONCALL02"}, Responders: []string{"mal"}}
		route(func(r *config.Route) {
			r.Responders = []string{"ana"}
			r.Escalation = []config.Step{{After: later, Remind: true, Times: 2}, {After: soon, Ask: []string{"@oncall", "bo"}}, {After: soon, Route: "wide"}}
		})(c)
	}})
	req := samples.Approval(bridge.ScopeOnce)
	req.Prompt, req.Timeout = "Restart the pump?", bridge.Duration(3*time.Hour)
	a := r.Ask(req)
	r.Told("cy", "telegram", r.Press("cy", a.On("telegram"), "Run command"), "may not answer")
	r.Due(life.JobStep, a.Interaction.ID, 0)
	r.Due(life.JobStep, a.Interaction.ID, 1)
	for _, service := range rig.Services {
		// Two reminders for the first responders, one for the added ones.
		r.Eventually("the reminders are on "+service, func() bool { return messages(r, service, ": Run make deploy?") >= 3 })
	}
	r.Eventually("others are asked", func() bool {
		return strings.Contains(a.Text("discord"), "More people were asked: cy ") && strings.Contains(a.Text("discord"), ", bo ")
	})
	r.Eventually("the wide channel is asked", func() bool {
		rec, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID)
		return err == nil && len(rec.Messages) == 4
	})
	rec := a.StillPending()
	if rec.Step != 4 || len(rec.Interaction.Responders) < 9 {
		t.Errorf("step %d, responders %+v", rec.Step, rec.Interaction.Responders)
	}
	r.Press("mal", sandbox.Place{Service: "slack", Channel: rec.Messages[3].Channel, Message: rec.Messages[3].Message}, "Run command")
	if got := a.End(); got.State != bridge.StateApproved || got.Response.Actor.Person != "mal" {
		t.Errorf("the response is %s %+v, want approved by mal", got.State, got.Response)
	}
	a.Closed("Approved by")
	for _, service := range rig.Services {
		if n := messages(r, service, " left to decide "); n != 3 {
			t.Errorf("%d reminders on %s", n, service)
		}
	}
	if text := strings.Join(texts(r, "slack"), "\n"); !strings.Contains(text, "<@U0ANA00001>") || !strings.Contains(text, "<@U0CY000003>") {
		t.Errorf("no one is mentioned: %s", text)
	}
}

// TestEscalationDuringRestart checks a daemon that stops before a step and
// starts after it was due: the steps from the time of the request apply, once
// each.
func TestEscalationDuringRestart(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("discord")(c)
		route(func(r *config.Route) {
			r.Responders = []string{"ana"}
			r.Escalation = []config.Step{{After: later, Remind: true}, {After: soon, Ask: []string{"bo"}}, {After: later, GiveUp: "deny"}}
		})(c)
	}})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Daemons[0].Stop()
	route(func(r *config.Route) { r.Escalation = nil })(&r.Config) // the steps have changed
	r.Due(life.JobStep, a.Interaction.ID, 0)
	if rec, err := r.Daemons[0].Store().Load(r.Ctx, a.Interaction.ID); err == nil && rec.Step != 0 {
		t.Fatalf("step %d without a daemon", rec.Step)
	}
	r.Daemons = nil
	r.Agent = client.New(r.Start(rig.Listen(t)).URL, rig.TestAgentToken, nil)
	r.Start(rig.Listen(t))
	r.Connected()
	r.Eventually("the people are told", func() bool { return messages(r, "discord", " left to decide ") >= 2 })
	r.Due(life.JobStep, a.Interaction.ID, 2)
	rec := a.End()
	if rec.State != bridge.StateDenied || !strings.Contains(rec.Response.Reason, "the escalation policy ended") || rec.Response.Actor != nil {
		t.Errorf("the response is %s %+v, want a denial by the escalation policy", rec.State, rec.Response)
	}
	if rec.Step != 2 || fmt.Sprint(rec.Interaction.Called) != "[bo]" {
		t.Errorf("step %d, called %v", rec.Step, rec.Interaction.Called)
	}
	if n := messages(r, "discord", " left to decide "); n != 2 {
		t.Errorf("%d reminders", n)
	}
}

// TestQuietRoute checks that the quiet hours of one route delay no step of another in
// a request that needs both.
func TestQuietRoute(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route(func(r *config.Route) {
			r.Responders, r.Escalation = []string{"ana"}, []config.Step{{After: later, Ask: []string{"cy"}}}
			r.Quiet = &config.Quiet{From: now.Add(-2 * time.Hour).Format("15:04"), To: now.Add(10 * time.Hour).Format("15:04")}
		})(c)
		c.Routes["second"] = config.Route{To: []string{"slack:C0ONCALL02"}, Responders: []string{"bo"}, Escalation: []config.Step{{After: 2 * later, Ask: []string{"mal"}}}}
		c.Policy = []policy.Rule{
			{Name: "a", Command: []string{"make *"}, Then: "ask", Route: bridge.DefaultRoute}, {Name: "b", Command: []string{"kubectl *"}, Then: "ask", Route: "second"},
		}
	}})
	req := samples.Approval(bridge.ScopeOnce)
	req.Approval.Input = []byte(`{"command":"make deploy; kubectl delete pod x"}`)
	req.Timeout = bridge.Duration(23 * time.Hour)
	a := r.Ask(req)
	read := func() bridge.Record {
		rec, err := r.Daemons[0].Store().Load(r.Ctx, a.Interaction.ID)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	r.Due(life.JobStep, a.Interaction.ID, 0)
	r.Eventually("the step of the quiet route waits behind the other", func() bool { return read().Interaction.Steps[0].For == "second" })
	r.Due(life.JobStep, a.Interaction.ID, 0)
	r.Eventually("mal is asked", func() bool { return strings.Contains(a.Text("slack"), "More people were asked: mal (Slack)") })
	rec := read()
	if rec.Step != 1 || fmt.Sprint(rec.Interaction.Called) != "[mal]" || rec.Interaction.Steps[1].For != bridge.DefaultRoute {
		t.Errorf("step %d, called %v, steps %+v", rec.Step, rec.Interaction.Called, rec.Interaction.Steps)
	}
	if wait := time.Duration(rec.Interaction.Steps[1].After); wait < 7*time.Hour || wait > 10*time.Hour {
		t.Errorf("the step of the quiet route waits for %s", wait)
	}
}

// TestSnoozeAndHandOver checks both controls behind More on each platform.
func TestSnoozeAndHandOver(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: route(func(r *config.Route) {
		r.Responders, r.Snooze, r.HandOver = []string{"ana"}, config.Duration(time.Second), []string{"bo"}
	})})
	for _, service := range rig.Services {
		req := samples.Approval(bridge.ScopeOnce)
		req.Approval.Input = []byte(`{"command":"make ` + service + `"}`)
		a := r.Ask(req)
		first := map[string]string{"slack": "Remind me"}[service] // in its menu; the others ask for theirs
		r.Told("bo", service, r.Press("bo", a.On(service), cmp.Or(first, render.LabelMore)), "may not answer")
		open := func(label string) sandbox.Reaction {
			did, _ := r.Open("ana", a.On(service), label)
			return did
		}
		r.Told("ana", service, open("Remind me in 1 s"), "nod will remind you ")
		r.Told("bo", service, r.Press("bo", a.On(service), "Run command"), "may not answer")
		r.Told("ana", service, open("Delegate to bo"), "Delegated: bo")
		r.Eventually("bo is told on "+service, func() bool { return messages(r, service, "ana delegates to bo: Run make "+service+"?") == 1 })
		r.Eventually("ana is reminded on "+service, func() bool { return messages(r, service, "you asked to be reminded: Run make "+service+"?") == 1 })
		r.Press("bo", a.On(service), "Run command")
		if rec := a.End(); rec.Response.Actor.Person != "bo" {
			t.Errorf("%s: %+v", service, rec.Response.Actor)
		}
	}
}

// TestOnCallAway checks that an unreachable on-call schedule does not end the
// escalation, which continues once the schedule can be read.
func TestOnCallAway(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.OnCall = map[string]config.OnCall{"away": {PagerDuty: &config.Schedule{URL: "http://127.0.0.1:1", Schedule: "S", Token: config.NewSecret("a-token-of-the-schedule")}}}
		c.Groups = map[string]config.Group{"oncall": {OnCall: "away"}}
		route(func(r *config.Route) {
			r.Responders = []string{"ana", "@oncall"}
			r.Escalation = []config.Step{{After: soon, Ask: []string{"@oncall"}}}
		})(c)
	}})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	// A person who may not be on call cannot answer, but ana can.
	r.Told("bo", "telegram", r.Press("bo", a.On("telegram"), "Run command"), "cannot read @oncall")
	r.Press("ana", a.On("telegram"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved {
		t.Error(rec.State)
	}
}
