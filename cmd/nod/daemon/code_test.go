package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
)

// TestVerificationCode checks on each service, and without a click, that a long
// command of high risk is approved only with the code after its last line. The
// card itself does not show the code, and a wrong one changes nothing.
func TestVerificationCode(t *testing.T) {
	t.Parallel()
	command, prompt := longRequests()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) { needsCode(t, s, command) })
		t.Run(s+", prompt only", func(t *testing.T) { needsCode(t, s, prompt) })
	}
}

// longRequests returns a request for a long command, and one with only a prompt.
func longRequests() (command, prompt bridge.Request) {
	command = rig.Approval()
	command.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("echo step\n", 1200)+"echo the end")
	prompt = rig.Approval() // people approve the prompt alone
	prompt.Prompt = strings.Repeat("Then a step.\n\n", 1200) + "echo the end"
	prompt.Approval.Tool, prompt.Approval.Input = "deploy", nil
	return command, prompt
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

// TestVerificationCodeInBrowser checks that the console shows the code only
// after the end of a long text, with and without an input, and approves only
// with it.
func TestVerificationCodeInBrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		withConsole(c)
		c.Policy = []config.Rule{{Name: "all", Tools: config.Words{"*"}, Then: "ask", Risk: "high"}}
		c.Risks = []config.Risk{{Name: "high"}}
	}})
	base := r.Daemons[0].URL + "/console/"
	drive(t, ctx, "log in", chromedp.Navigate(base), browsing.Seen("#token"), browsing.Type("#token", rig.BoToken+"\n"), browsing.Gone("#token"))
	command, prompt := longRequests()
	for name, req := range map[string]bridge.Request{"a command": command, "a prompt": prompt} {
		a := r.Ask(req)
		code := a.Interaction.Approval.Code
		approve := `//main//div[@class="buttons"]/button[@data-decision="once"]`
		drive(t, ctx, name+" opens", chromedp.Navigate(base+"#/i/"+string(a.Interaction.ID)), browsing.Seen(approve))
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main .content").innerText`))
		if err != nil || strings.Count(text, code) != 1 || strings.Index(text, code) < strings.Index(text, "echo the end") {
			t.Errorf("%s: the code is not after the end of %d characters, %v", name, len(text), err)
		}
		drive(t, ctx, name+" with a wrong code", browsing.Click(approve), browsing.Type("input[name=wanted]", "AAA AAA"),
			browsing.Click(`//main//div[label]//button`), browsing.Seen(`//*[contains(text(), "not the code after the last line")]`))
		if got, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID); err != nil || got.State != bridge.StatePending {
			t.Fatalf("%s: with a wrong code it is %s, %v", name, got.State, err)
		}
		drive(t, ctx, name+" with the code", browsing.Gone("input[name=wanted]"), browsing.Click(approve), // the page was drawn again
			browsing.Type("input[name=wanted]", strings.ToLower(code)), browsing.Click(`//main//div[label]//button`), browsing.Gone(approve))
		if got := a.End(); got.State != bridge.StateApproved {
			t.Errorf("%s: with the code it is %s", name, got.State)
		}
	}
}
