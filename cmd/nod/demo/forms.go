package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// plan lets a person request changes to a plan. The agent asks again in the
// same messages, and another person approves.
func (p *play) plan(ctx context.Context) error {
	s, err := p.ask(ctx, Scenes()[4].Request)
	if err != nil {
		return err
	}
	p.say("👆 Bo clicks “Request changes…” on Slack and types: keep the old index for a day")
	if err := p.fills(ctx, "bo", "slack", s, "Request changes", []string{"keep the old index for a day"}); err != nil {
		return err
	}
	e := <-s.done
	if e.err != nil {
		return e.err
	}
	if got := e.rec.Response.Answers["plan"].String(); got != `{"decision":"request_changes","feedback":"keep the old index for a day"}` {
		return fmt.Errorf("the answer was %s", got)
	}
	p.say("   ✓ the agent got %s, and asks again with a better plan", e.rec.Response.Answers["plan"])
	better := e.rec.Interaction.Questions
	better[0].Plan += "\n4. drop the old index tomorrow"
	next, err := p.agent.Reprompt(ctx, e.rec.Interaction.ID, bridge.Request{Ask: bridge.Ask{
		Prompt: "Is it better now?", Questions: better,
	}}, "")
	if err != nil {
		return err
	}
	again := p.await(ctx, next)
	if err := p.sandbox.Wait(ctx, func() bool { return strings.Contains(fmt.Sprint(p.sandbox.Message(s.on("telegram"))), "tomorrow") }); err != nil {
		return err
	}
	p.say("👆 Ana clicks “Approve” on Telegram, in the same message")
	if err := did(p.sandbox.Person("ana").Press(ctx, again.on("telegram"), "Approve plan")); err != nil {
		return err
	}
	return p.answered(ctx, again, "plan", `{"decision":"approve"}`, "ana", "in Telegram")
}

// form lets a person fill in a form. The first submission has an invalid value.
func (p *play) form(ctx context.Context) error {
	s, err := p.ask(ctx, Scenes()[5].Request)
	if err != nil {
		return err
	}
	p.say("⌨️  Cy fills in the form on Slack, with a date picker, a number and an invalid email address")
	cy := p.sandbox.Person("cy")
	r, err := cy.Press(ctx, s.on("slack"), "Answer")
	if err := did(r, err); err != nil {
		return err
	}
	values := [][]string{{"Release 42 is out"}, {"2026-12-01"}, {"cy@nowhere"}, {"1200"}, {"Everyone", "The press"}, nil}
	r, err = cy.Fill(ctx, "slack", r.Modal, values...)
	if err != nil || len(r.Errors) != 1 {
		return fmt.Errorf("the invalid value got %+v, %w", r, err)
	}
	for _, e := range r.Errors {
		p.say("   ✓ the field shows: %s", e)
	}
	values[2] = []string{"cy@example.com"}
	if err := did(cy.Fill(ctx, "slack", p.sandbox.State().Slack.Views[0].ID, values...)); err != nil {
		return err
	}
	return p.answered(ctx, s, "news",
		`{"title":"Release 42 is out","on":"2026-12-01","contact":"cy@example.com","users":1200,"audience":["all","press"],"pinned":true}`,
		"cy", "1200")
}
