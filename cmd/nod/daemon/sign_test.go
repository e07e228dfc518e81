package daemon_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// withStepUp makes every approval require a passkey.
func withStepUp(c *config.Config) {
	withPasskeys(c)
	r := c.Routes["default"]
	r.StepUp = "passkey"
	c.Routes["default"] = r
}

var signLink = regexp.MustCompile(`http://localhost:\d+/sign/[A-Za-z0-9_-]{43}`)

// linkFor returns the links that a service shows only to a person.
func linkFor(r *rig.Rig, who, service string) []string {
	user := r.Config.People[who].Account(service)
	chats := r.Sandbox.Chats(service)
	var found []string
	for _, v := range r.Sandbox.State().Slack.Views {
		if text, _ := json.Marshal(v.View); service == "slack" && v.User == user { // JSON from the sandbox
			found = append(found, signLink.FindAllString(string(text), -1)...)
		}
	}
	for _, c := range chats {
		var private []any
		for _, p := range c.Private {
			if p.User == user {
				private = append(private, p.Message)
			}
		}
		for _, m := range c.Messages {
			text, _ := json.Marshal(m) // JSON from the sandbox
			if own := service == "telegram" && c.ID == user; own {
				private = append(private, m)
			} else if signLink.Match(text) {
				r.T.Errorf("everyone in %s of %s sees the link", c.ID, service)
			}
		}
		text, _ := json.Marshal(private) // JSON from the sandbox
		found = append(found, signLink.FindAllString(string(text), -1)...)
	}
	return found
}

// linked waits for a new link for ana on a service, and returns it.
func linked(r *rig.Rig, service string, seen []string) string {
	r.T.Helper()
	link := ""
	r.Eventually("ana gets a link on "+service, func() bool {
		for _, l := range linkFor(r, "ana", service) {
			if !slices.Contains(seen, l) {
				link = l
			}
		}
		return link != ""
	})
	return link
}

// enrolled lets ana add a passkey on a virtual authenticator of the browser.
func enrolled(t *testing.T, ctx context.Context, r *rig.Rig) {
	t.Helper()
	invited, err := client.New(r.Daemons[0].URL, rig.BoToken, nil).Invite(t.Context(), "ana")
	if err != nil {
		t.Fatal(err)
	}
	drive(t, ctx, "add a passkey", chromedp.Navigate(invited.URL), onPage("ana"), browsing.Type("#label", "Phone\n"), onPage("Your passkey was added"))
}

// TestSign checks, on each service, that the click on a card leads to a page
// where the person signs with a passkey in a browser, and that only the
// signature approves.
func TestSign(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: withStepUp})
	id := authenticator(t, ctx)
	drive(t, ctx, "a phone", chromedp.EmulateViewport(390, 844))
	enrolled(t, ctx, r)
	for _, service := range rig.Services {
		asked := r.Ask(samples.Approval(bridge.ScopeOnce))
		seen := linkFor(r, "ana", service)
		r.Approve("ana", asked.On(service))
		link := linked(r, service, seen)
		asked.StillPending()
		drive(t, ctx, "open the link", chromedp.Navigate(link), browsing.Seen("#passkey"))
		if service == "slack" {
			axe(t, ctx, "sign")
			screenshot(t, ctx, "sign")
			wide, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`))
			if err != nil || wide {
				t.Error("the page is wider than a phone", err)
			}
			code, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("code").textContent`))
			if err != nil || !strings.Contains(asked.Text("slack"), code) || code != asked.Record.Interaction.SignCode() {
				t.Errorf("the card does not show the code %q: %v", code, err)
			}
		}
		drive(t, ctx, "no user verification", verifies(id, false), browsing.Click("#passkey"),
			browsing.Seen(`//p[@id="problem"][contains(., "Nothing was signed")]`))
		asked.StillPending()
		drive(t, ctx, "sign with the keyboard", verifies(id, true), browsing.Seen("#passkey:enabled"), browsing.Type("#passkey", "\r"),
			browsing.Seen(`//p[@id="done"][contains(., "approved once")]`))
		rec := asked.End()
		if rec.State != bridge.StateApproved || rec.Response.Assurance != bridge.AssurancePasskey || rec.Response.Assertion == nil {
			t.Errorf("%s: %s %+v", service, rec.State, rec.Response)
		}
		asked.Closed("with a passkey")
		verifiedOffline(t, r, rec)
		drive(t, ctx, "the link again", chromedp.Navigate("about:blank"), chromedp.Navigate(link), browsing.Seen(`//p[@id="done"][contains(., "approved once")]`))
	}

	signsInConsole(t, ctx, r)
}

// signsInConsole checks that an approval in the console leads to the page as
// well.
func signsInConsole(t *testing.T, ctx context.Context, r *rig.Rig) {
	t.Helper()
	asked := r.Ask(samples.Approval(bridge.ScopeOnce))
	drive(t, ctx, "approve in the console", chromedp.Navigate("about:blank"), chromedp.Navigate(r.Config.Console.URL+"/console/"),
		browsing.Type("#token", rig.AnaToken+"\n"), browsing.Seen(`//a[@class="row"]`), script(`document.querySelector("a.row").click()`),
		onPage("Timeline"), browsing.Click(`button[data-decision="once"]`), browsing.Seen("#passkey"))
	asked.StillPending()
	drive(t, ctx, "sign", browsing.Click("#passkey"), browsing.Seen(`//p[@id="done"][contains(., "approved once")]`))
	if rec := asked.End(); rec.State != bridge.StateApproved || rec.Response.Assurance != bridge.AssurancePasskey {
		t.Errorf("%s %+v", rec.State, rec.Response)
	}
}
