package main

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestDiscordRounds checks that people always see the text of the round that
// they answer: without Embed Links, with embeds switched off, and in full or
// not at all.
func TestDiscordRounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("discord")})
	r.sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "EMBED_LINKS"})
	for _, who := range []string{"ana", "bo"} {
		if _, err := r.sandbox.Act(r.ctx, sandbox.Action{Service: "discord", As: who, Do: "embeds", Text: "off"}); err != nil {
			t.Fatal(err)
		}
	}
	plan := func(word string) string {
		return strings.Repeat("step of plan "+word+"\n\n", 2500) + "the last of " + word
	}
	req := one(bridge.WidgetText)
	req.Prompt, req.Session, req.MaxRounds = plan("first"), "s", 3
	a := r.ask(req)
	sees := func() string { return r.sandbox.Person("ana").Sees(a.on("discord")) }
	if got := sees(); !strings.Contains(got, "the last of first") {
		t.Fatalf("the first round shows %.500s", got)
	}
	again := func(word string) {
		r.typed("ana", a.on("discord"), "Answer", "no")
		a.end()
		next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{Prompt: plan(word)}}, "")
		if err != nil {
			t.Fatal(err)
		}
		a = a.as(next)
	}
	again("second")
	r.eventually("the second round is shown", func() bool {
		return strings.Contains(sees(), "the last of second") && len(a.controls("discord")) > 0
	})
	if strings.Contains(sees(), "first") {
		t.Error("the second round shows the text of the first")
	}
	r.sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	again("third")
	// It can be answered nowhere, so it ends, and the agent learns why.
	got := a.end()
	if got.State != bridge.StateUndeliverable || !strings.Contains(got.Response.Reason, "Missing Permissions") {
		t.Errorf("the third round is %s: %+v", got.State, got.Response)
	}
	a.closed("Could not be delivered")
	if strings.Contains(sees(), "of second") {
		t.Errorf("the third round shows %.500s", sees())
	}
	if rec, err := r.person.Respond(r.ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("yes")}}); err == nil {
		t.Errorf("the third round took an answer: %s", rec.State)
	}
}

// TestDiscordRoundElsewhere loses a permission before a round that other
// services show too: it waits for an answer there, and Discord's message
// has no controls.
func TestDiscordRoundElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("discord", "telegram")})
	a := r.ask(planned("a short plan"))
	at := a.on("discord")
	r.typed("ana", at, "Request changes", "more detail")
	a.end()
	a.closed("more detail")
	r.sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	r.guard(at, "round 2", tail)
	next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, planned(longPlan(20_000)), "")
	if err != nil {
		t.Fatal(err)
	}
	b := a.as(next)
	r.eventually("the round is withheld on Discord", func() bool {
		rec := b.stillPending()
		return strings.Contains(b.text("discord"), "Not delivered") && len(rec.Failures) == 1 && len(approving("telegram", r.sandbox.Message(b.on("telegram")))) > 0
	})
	if n := len(b.controls("discord")); n > 0 {
		t.Errorf("Discord's message has %d controls", n)
	}
	r.press("ana", b.on("telegram"), "Approve")
	if got := b.end(); got.State != bridge.StateAnswered || got.Response.Message.Channel == at.Channel {
		t.Errorf("the round is %s by %+v", got.State, got.Response.Message)
	}
	b.closed()
}
