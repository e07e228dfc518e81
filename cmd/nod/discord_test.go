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
		next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, bridge.Request{Prompt: plan(word)}, "")
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
	r.eventually("the third round is withheld", func() bool { return strings.Contains(sees(), "Not delivered") })
	if n := len(a.controls("discord")); n > 0 || strings.Contains(sees(), "of second") {
		t.Errorf("the message has %d controls and shows %.500s", n, sees())
	}
	if got, err := r.daemons[0].engine().Get(r.ctx, a.Interaction.ID); err != nil || got.State != bridge.StatePending {
		t.Errorf("the third round is %s, %v", got.State, err)
	}
}
