package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestDiscordRounds checks that people always see the complete text of the
// round that they answer, also without the permission Embed Links and with
// embeds disabled.
func TestDiscordRounds(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	r.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "EMBED_LINKS"})
	for _, who := range []string{"ana", "bo"} {
		if _, err := r.Sandbox.Act(r.Ctx, sandbox.Action{Service: "discord", As: who, Do: "embeds", Text: "off"}); err != nil {
			t.Fatal(err)
		}
	}
	plan := func(word string) string {
		return strings.Repeat("step of plan "+word+"\n\n", 2500) + "the last of " + word
	}
	req := samples.One(bridge.WidgetText)
	req.Prompt, req.Session, req.MaxRounds = plan("first"), "s", 3
	a := r.Ask(req)
	sees := func() string { return r.Sandbox.Person("ana").Sees(a.On("discord")) }
	if got := sees(); !strings.Contains(got, "the last of first") {
		t.Fatalf("the first round shows %.500s", got)
	}
	again := func(word string) {
		r.Typed("ana", a.On("discord"), "Answer", "no")
		a.End()
		next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{Prompt: plan(word)}}, "")
		if err != nil {
			t.Fatal(err)
		}
		a = a.As(next)
	}
	again("second")
	r.Eventually("the second round is shown", func() bool {
		return strings.Contains(sees(), "the last of second") && len(a.Controls("discord")) > 0
	})
	if strings.Contains(sees(), "first") {
		t.Error("the second round shows the text of the first")
	}
	r.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	again("third")
	// It cannot be answered anywhere, so it is closed, and the agent gets the
	// reason.
	got := a.End()
	if got.State != bridge.StateUndeliverable || !strings.Contains(got.Response.Reason, "Missing Permissions") {
		t.Errorf("the third round is %s: %+v", got.State, got.Response)
	}
	a.Closed("Cannot be answered here")
	if strings.Contains(sees(), "of second") {
		t.Errorf("the third round shows %.500s", sees())
	}
	if rec, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("yes")}}); err == nil {
		t.Errorf("the third round accepted an answer: %s", rec.State)
	}
}

// TestDiscordRoundElsewhere checks a round after Discord lost a permission: it
// can be answered on the other platforms, and its message on Discord has no
// controls.
func TestDiscordRoundElsewhere(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord", "telegram")})
	a := r.Ask(planned("a short plan"))
	at := a.On("discord")
	r.Typed("ana", at, "Request changes", "more detail")
	a.End()
	a.Closed("more detail")
	r.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	guard(r, at, "round 2", tail)
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, planned(longPlan(20_000)), "")
	if err != nil {
		t.Fatal(err)
	}
	b := a.As(next)
	r.Eventually("the round is withheld on Discord", func() bool {
		rec := b.StillPending()
		return strings.Contains(b.Text("discord"), "Cannot be answered here") && len(rec.Failures) == 1 && len(approving("telegram", r.Sandbox.Message(b.On("telegram")))) > 0
	})
	if n := len(b.Controls("discord")); n > 0 {
		t.Errorf("Discord's message has %d controls", n)
	}
	r.Press("ana", b.On("telegram"), "Approve plan")
	if got := b.End(); got.State != bridge.StateAnswered || got.Response.Message.Channel == at.Channel {
		t.Errorf("the round is %s by %+v", got.State, got.Response.Message)
	}
	b.Closed()
}
