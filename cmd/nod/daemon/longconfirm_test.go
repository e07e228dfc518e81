package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestLongConfirmed checks on each service that a long request of high risk
// shows its end before people can approve it, and that only the typed
// confirmation approves it.
func TestLongConfirmed(t *testing.T) {
	t.Parallel()
	command, prompt := longRequests()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) { confirmsLong(t, s, command) })
		t.Run(s+", prompt only", func(t *testing.T) { confirmsLong(t, s, prompt) })
	}
}

// longRequests returns a request for a long command, and one with only a prompt.
func longRequests() (command, prompt bridge.Request) {
	command = samples.Approval()
	command.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("echo step\n", 1200)+"echo the end")
	prompt = samples.Approval() // people approve the prompt alone
	prompt.Prompt = strings.Repeat("Then a step.\n\n", 1200) + "echo the end"
	prompt.Approval.Tool, prompt.Approval.Input = "deploy", nil
	return command, prompt
}

// confirmsLong checks a request on a service.
func confirmsLong(t *testing.T, s string, req bridge.Request) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only(s)(c)
		c.Risks = []policy.Risk{{Name: "high", Confirm: "prod"}}
		c.Policy = []policy.Rule{{Name: "steps", Command: []string{"echo *"}, Then: "ask", Risk: "high"},
			{Name: "deploys", Tools: []string{"deploy"}, Then: "ask", Risk: "high"}}
	}})
	a := r.Ask(req)
	at := a.On(s)
	read(a, s)
	label := r.ApprovingLabel(at)
	if s == "slack" {
		opened := r.Press("ana", at, label)
		if text := r.Modal(opened.Modal); !strings.Contains(text, "echo the end") {
			t.Errorf("the dialog does not show the end: %.200s", text)
		}
	} else if !strings.Contains(r.Displayed(at), rig.Normal(s, "echo the end")) {
		t.Error("the file does not show the end")
	}
	refused := r.Typed("ana", at, label, "dev")
	if s == "telegram" { // a reply to the typed message
		r.Eventually("ana reads why", func() bool { return strings.Contains(rig.Chat(r, at.Channel), "Type exactly: prod") })
	} else {
		r.Told("ana", s, refused, "Type exactly: prod")
	}
	if got, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID); err != nil || got.State != bridge.StatePending {
		t.Fatalf("with a wrong text it is %s, %v", got.State, err)
	}
	r.Typed("ana", at, label, "prod")
	if got := a.End(); got.State != bridge.StateApproved {
		t.Errorf("with the text it is %s", got.State)
	}
}

// TestLongInBrowser checks that the console shows a long text to its end, with
// and without an input, above the buttons that approve it.
func TestLongInBrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		withConsole(c)
	}})
	base := r.Daemons[0].URL + "/console/"
	drive(t, ctx, "log in", chromedp.Navigate(base), browsing.Seen("#token"), browsing.Type("#token", rig.BoToken+"\n"), browsing.Gone("#token"))
	command, prompt := longRequests()
	for name, req := range map[string]bridge.Request{"a command": command, "a prompt": prompt} {
		a := r.Ask(req)
		approve := `//main//div[@class="buttons"]/button[@data-decision="once"]`
		drive(t, ctx, name+" opens", chromedp.Navigate(base+"#/i/"+string(a.Interaction.ID)), browsing.Seen(approve))
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main .content").innerText`))
		if err != nil || strings.Count(text, "step") != 1200 || !strings.Contains(text, "echo the end") {
			t.Errorf("%s: the page has %d of 1200 steps, %v", name, strings.Count(text, "step"), err)
		}
		drive(t, ctx, name+" is approved", browsing.Click(approve), browsing.Gone(approve))
		if got := a.End(); got.State != bridge.StateApproved {
			t.Errorf("%s is %s", name, got.State)
		}
	}
}
