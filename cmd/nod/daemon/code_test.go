package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
)

// TestVerificationCode checks on each service, and without a click, that a long
// command of high risk is approved only with the code after its last line. The
// card itself does not show the code, and a wrong one changes nothing.
func TestVerificationCode(t *testing.T) {
	t.Parallel()
	command := rig.Approval()
	command.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("echo step\n", 1200)+"echo the end")
	prompt := rig.Approval() // people approve the prompt alone
	prompt.Prompt = strings.Repeat("Then a step.\n\n", 1200) + "echo the end"
	prompt.Approval.Tool, prompt.Approval.Input = "deploy", nil
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) { needsCode(t, s, command) })
		t.Run(s+", prompt only", func(t *testing.T) { needsCode(t, s, prompt) })
	}
}

// needsCode checks a request on a service.
func needsCode(t *testing.T, s string, req bridge.Request) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only(s)(c)
		c.Risks = []config.Risk{{Name: "high", Confirm: "prod"}}
		c.Policy = []config.Rule{{Name: "steps", Command: config.Words{"echo *"}, Then: "ask", Risk: "high"},
			{Name: "deploys", Tools: config.Words{"deploy"}, Then: "ask", Risk: "high"}}
	}})
	for _, inChat := range []bool{true, false} {
		a := r.Ask(req)
		at, code := a.On(s), a.Interaction.Approval.Code
		if code == "" || a.Interaction.Approval.Confirm != "prod "+code || strings.Contains(rig.ShownIn(r.Sandbox.Message(at)), code) {
			t.Fatalf("the code is %q, and the card %s", code, a.Text(s))
		}
		read(a, s)
		if !inChat {
			answersByToken(r, a, code)
			continue
		}
		label := r.ApprovingLabel(at)
		if s == "slack" {
			opened := r.Press("ana", at, label)
			if text := r.Modal(opened.Modal); !strings.Contains(text, code) || !strings.Contains(text, "echo the end") {
				t.Errorf("the dialog does not show the code %s: %.200s", code, text)
			}
		} else if !strings.Contains(r.Displayed(at), rig.Normal(s, code)) {
			t.Errorf("the file does not show the code %s", code)
		}
		refused := r.Typed("ana", at, label, "prod")
		if s == "telegram" { // a reply to the typed message
			r.Eventually("ana reads why", func() bool { return strings.Contains(rig.Chat(r, at.Channel), "Nothing was approved") })
		} else {
			r.Told("ana", s, refused, "code after the last line")
		}
		if got, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID); err != nil || got.State != bridge.StatePending {
			t.Fatalf("with a wrong code it is %s, %v", got.State, err)
		}
		r.Typed("ana", at, label, "prod "+strings.ToLower(strings.ReplaceAll(code, " ", "")))
		if got := a.End(); got.State != bridge.StateApproved {
			t.Errorf("with the code it is %s", got.State)
		}
	}
}

// answersByToken approves with the token of a person, first without the code.
func answersByToken(r *rig.Rig, a rig.Asked, code string) {
	r.T.Helper()
	reply := bridge.Reply{Decision: bridge.DecideOnce, Confirm: "prod", Terms: &a.Interaction.Terms}
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, reply); err == nil || !strings.Contains(err.Error(), "code after the last line") {
		r.T.Errorf("without the code: %v", err)
	}
	reply.Confirm = "prod " + code
	if got, err := r.Person.Respond(r.Ctx, a.Interaction.ID, reply); err != nil || got.State != bridge.StateApproved {
		r.T.Errorf("with the code: %s, %v", got.State, err)
	}
}
