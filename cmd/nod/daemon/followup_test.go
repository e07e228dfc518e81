package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// over waits until an interaction is over, as no particular caller.
func over(r *rig.Rig, id bridge.ID) bridge.Record {
	r.T.Helper()
	var rec bridge.Record
	r.Eventually("it is over", func() bool {
		var err error
		rec, err = r.Daemons[0].Engine().Get(r.Ctx, id)
		return err == nil && rec.Over()
	})
	return rec
}

// TestReprompt checks that a follow-up asks in the same messages with the
// values of the round before it, whose controls have no effect, and that the
// number of rounds is limited.
func TestReprompt(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			req := samples.One(bridge.WidgetText)
			req.Session, req.MaxRounds = "s", 2
			a := r.Ask(req)
			old := holding(r, a, s, "Answer", "bo")
			r.Typed("ana", a.On(s), "Answer", "v0")
			first := a.End()
			next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{
				Error: "v0 does not exist",
			}}, "")
			if err != nil {
				t.Fatal(err)
			}
			i := next.Interaction
			if i.ID == a.Interaction.ID || i.Round != 2 || i.Previous != a.Interaction.ID || i.Initial["q"].Text != "v0" || !cmp.Equal(next.Messages, first.Messages) {
				t.Errorf("the next round: %+v", next)
			}
			b := a.As(next)
			r.Eventually("the same message asks again", func() bool {
				text := b.Text(s)
				return strings.Contains(text, "v0 does not exist") && len(b.Controls(s)) > 0
			})
			if s == "telegram" { // only its clients can send a control that is gone
				reaction, err := r.Sandbox.Act(r.Ctx, old)
				r.Told("bo", s, person.Did(t, reaction, err), "this was asked again")
			}
			r.Press("ana", b.On(s), "Answer")
			if raw := fmt.Sprint(r.Sandbox.State().Slack.Views, r.Sandbox.State().Discord.Modals); s != "telegram" && !strings.Contains(raw, "v0") {
				t.Error("the earlier value is not filled in")
			}
			if s == "telegram" {
				answerPrompt(r, b, "v1")
			} else {
				r.Fill("ana", b.On(s), "Answer", []string{"v1"})
			}
			wantAnswer(b, bridge.TextAnswer("v1"))
			b.Closed("v1", "ana", "was told")
			if _, err := r.Agent.Reprompt(r.Ctx, i.ID, bridge.Request{}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("a third round: %v", err)
			}
			if _, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("asking again twice: %v", err)
			}
		})
	}
}

// TestRepromptOfPending checks that a follow-up of a pending request supersedes
// it.
func TestRepromptOfPending(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	a := r.Ask(samples.One(bridge.WidgetButtons, samples.Choices("a", "b")...))
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{
		Prompt: "Or rather:", Questions: samples.One(bridge.WidgetButtons, samples.Choices("c", "d")...).Questions,
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if was := over(r, a.Interaction.ID); was.State != bridge.StateSuperseded || was.Next != next.Interaction.ID {
		t.Errorf("the one before is %s, next %s", was.State, was.Next)
	}
	b := a.As(next)
	for _, s := range rig.Services {
		r.Eventually("the card shows the new question on "+s, func() bool { return strings.Contains(b.Text(s), "Or rather") })
	}
	r.Press("ana", b.On("discord"), "D")
	wantAnswer(b, bridge.TextAnswer("d"))
	b.Closed("ana", "Discord", "D")
}

// TestRepromptOfAnotherForm checks that a follow-up can have other questions,
// and that drafts that do not fit them are dropped.
func TestRepromptOfAnotherForm(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	form := func(schema string) bridge.Request {
		return bridge.Request{Ask: bridge.Ask{
			Prompt: "A form", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: []byte(schema)}},
		}}
	}
	req := form(`{"type":"object","properties":{"old":{"type":"string","default":"x"}}}`)
	req.OnTimeout, req.Declinable = bridge.OnTimeoutDefault, true
	req.CompletedView = &bridge.CompletedView{SummaryTemplate: "{{input.q}}"}
	a := r.Ask(req)
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.JSONAnswer(`{"old":"y"}`)}}); err != nil {
		t.Fatal(err)
	}
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, form(`{"type":"object","required":["new"],"properties":{"new":{"type":"string"}}}`), "")
	if err != nil || len(next.Interaction.Initial) != 0 || next.Interaction.OnTimeout != bridge.OnTimeoutExpire {
		t.Fatalf("%+v, %v", next.Interaction, err)
	}
	last, err := r.Agent.Reprompt(r.Ctx, next.Interaction.ID, samples.Approval(), "")
	if err != nil || last.Interaction.Kind != bridge.KindApproval || last.Interaction.CompletedView != nil {
		t.Fatalf("%+v, %v", last.Interaction, err)
	}
	r.Eventually("the card asks for permission", func() bool { return strings.Contains(a.As(last).Text("slack"), "make deploy") })
	r.Press("ana", a.As(last).On("slack"), "Run command")
	if got := over(r, last.Interaction.ID); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
}

// TestFilledInIsNoAnswer checks that an answer over the API does not contain
// initial values that it leaves out.
func TestFilledInIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := samples.One(bridge.WidgetText)
	req.Questions[0].Required = new(bool)
	req.Initial = map[string]bridge.Answer{"q": bridge.TextAnswer("from before")}
	a := r.Ask(req)
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{}); err != nil {
		t.Fatal(err)
	}
	if rec := a.End(); len(rec.Response.Answers) != 0 {
		t.Errorf("answered %v", rec.Response)
	}
}
