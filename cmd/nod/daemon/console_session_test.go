package daemon_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestConsoleAgentSessions checks the pages of sessions: people see what a session
// does and asks, and stop and resume it.
func TestConsoleAgentSessions(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("slack")(c); withConsole(c) }})
	if _, err := r.Agent.Report(r.Ctx, "s1", bridge.SessionReport{
		State: bridge.SessionWorking, Title: "Fix the login", Host: "laptop", Folder: "~/shop", Branch: "main", Step: "Bash: make",
	}); err != nil {
		t.Fatal(err)
	}
	req := samples.Approval()
	req.Session = "s1"
	a := r.Ask(req)
	shows := func(text string) chromedp.Action[chromedp.Void] {
		return browsing.Seen(`//main//*[contains(., "` + text + `")]`)
	}
	// The page draws its buttons again while it is live, so they are found and
	// clicked in one step.
	press := func(label string) {
		find := `[...document.querySelectorAll("main button")].find((b) => b.textContent.includes("` + label + `"))`
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`(() => { const b = `+find+`; b?.click(); return !!b })()`)); err != nil {
			t.Fatalf("%s: %v", label, err)
		}
	}
	drive(t, ctx, "log in", chromedp.Navigate(r.Daemons[0].URL+"/console/#/sessions"), browsing.Seen("#token"), browsing.Type("#token", rig.BoToken+"\n"))
	drive(t, ctx, "the list", shows("⏸️ Waiting: Fix the login"), shows("laptop · ~/shop · branch main"))
	axe(t, ctx, "sessions")
	screenshot(t, ctx, "console-sessions")
	drive(t, ctx, "the session", browsing.Click(`//main//a[contains(., "Fix the login")]`), shows("Bash: make"), shows("Requests"))
	axe(t, ctx, "a session")
	screenshot(t, ctx, "console-session")
	press("Stop")
	drive(t, ctx, "stop", shows("⏹️ Stopped"))
	if got := a.End(); got.State != bridge.StateCancelled {
		t.Errorf("the request is %s", got.State)
	}
	press("Resume")
	drive(t, ctx, "resume", shows("▶️ Working"))
}
