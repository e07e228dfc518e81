package daemon_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// looks holds everything that a person sees of a page to sign.
type looks struct {
	Done, Problem, Button string
	Broken                bool // a page of the browser, or of a server in front of nod
}

// look waits until the page to sign says something or has its button. A page that
// did not load has neither, and a page without its script never will: a person does
// not wait forever before they open it again.
func look(ctx context.Context, button bool) looks {
	const js = `(() => {
		const seen = (id) => { const e = document.getElementById(id); return e && !e.hidden && !e.disabled ? e.textContent : ""; };
		return { Done: seen("done"), Problem: seen("problem"), Button: seen("passkey"),
			Broken: document.readyState === "complete" && !document.querySelector("main") };
	})()`
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	for {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[looks](js))
		if err == nil && (got.Done != "" || got.Problem != "" || got.Broken || button && got.Button != "") || !bridge.Pause(ctx, 20*time.Millisecond) {
			return got
		}
	}
}

// signsPatiently is a person who opens a link, signs, and opens it again until the
// page says that it is done. It returns what the page said in the end.
func signsPatiently(ctx context.Context, link string, check func(said string)) string {
	said := ""
	for began := time.Now(); time.Since(began) < await.Limit; {
		step, stop := context.WithTimeout(ctx, await.Limit)
		_ = chromedp.Do(step, chromedp.Navigate(link)) // a page that does not load is opened again
		stop()
		got := look(ctx, true)
		if got.Done == "" && got.Problem == "" && got.Button != "" {
			_ = chromedp.Do(ctx, browsing.Type("#passkey", "\r")) // a click could miss while the page loads
			got = look(ctx, false)
		}
		said = got.Done + got.Problem
		if check(said); got.Done != "" {
			break
		}
	}
	return said
}

// insists waits until the page has an element, and tries again whenever the page
// offers that instead.
func insists(selector string) browsing.Action {
	return until("document.querySelector(`" + selector + "`) || " +
		"[...document.querySelectorAll(\"main button\")].find((b) => b.textContent === \"Try again\")?.click()")
}

// TestSignDaemonKilled checks that the page to sign, and those that lead to it,
// outlive a daemon that is killed at any of their requests: the signature is
// recorded once, and the page never says anything else.
func TestSignDaemonKilled(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	front, to := inFrontOf(t)
	c := rig.NewCrash(t, "slack")
	to(c.URL)
	c.Configure("console: {enabled: true, url: \"" + front.address() + "\"}\npolicy:\n  - {name: all, tools: [\"*\"], then: ask, step_up: passkey}\n")
	c.ConnectedOn("slack")
	front.kill = func() { c.Kill(); c.StartDaemon() }
	authenticator(t, ctx)
	console := front.address() + "/console/"
	drive(t, ctx, "sign in", chromedp.Navigate(console+"#/passkeys"), browsing.Type("#token", rig.AnaToken+"\n"), browsing.Gone("#token"), browsing.Seen("#label"))
	front.does(killedLate+firstOnly, "POST /console/passkeys/options")
	drive(t, ctx, "add a passkey", browsing.Type("#label", "Phone\n"), onPage("Phone"))

	for _, at := range []string{"GET /sign/", "GET /console/sign.js", "GET /console/webauthn.js", "GET /console/console.css", "POST /sign/"} {
		for _, f := range []fault{killed + firstOnly, killedLate + firstOnly, cut + firstOnly, badGateway + firstOnly} {
			name := at + " " + string(f)
			rec, err := c.Agent.Open(ctx, samples.Approval(bridge.ScopeOnce), "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Person.Respond(ctx, rec.Interaction.ID, bridge.Reply{Decision: bridge.DecideOnce})
			link := bridge.PublicError(err).Link
			if link == "" {
				t.Fatalf("%s: %v", name, err)
			}
			front.does(f, at)
			state := func() bridge.State {
				now, err := c.Agent.Get(ctx, rec.Interaction.ID)
				if err != nil {
					return ""
				}
				return now.State
			}
			said := signsPatiently(ctx, link, func(said string) {
				now := state()
				if strings.Contains(strings.ToLower(said), "nothing was") && now == bridge.StateApproved || strings.Contains(said, "approved once") && now != bridge.StateApproved && now != "" {
					t.Errorf("%s: the page says %q of a request that is %s", name, said, now)
				}
			})
			if !strings.Contains(said, "approved once") {
				t.Errorf("%s: the page says %q", name, said)
			}
			if front.last() != at {
				t.Errorf("%s: the fault did not happen", name)
			}
			if now := state(); now != bridge.StateApproved {
				t.Errorf("%s: the request is %s", name, now)
			}
		}
	}

	for at, f := range map[string]fault{"POST /console/cards/": killedLate + firstOnly, "GET /console/cards/": badGateway + firstOnly} {
		rec, err := c.Agent.Open(ctx, samples.Approval(bridge.ScopeOnce), "")
		if err != nil {
			t.Fatal(err)
		}
		front.does(f, at)
		drive(t, ctx, at, chromedp.Navigate("about:blank"), chromedp.Navigate(console+"#/i/"+string(rec.Interaction.ID)))
		drive(t, ctx, at, insists(`button[data-decision="once"]`), browsing.Click(`button[data-decision="once"]`), browsing.Type("#passkey", "\r"), browsing.Seen(`//p[@id="done"][contains(., "approved once")]`))
		if now, err := c.Agent.Get(ctx, rec.Interaction.ID); err != nil || now.State != bridge.StateApproved {
			t.Errorf("%s: %s, %v", at, now.State, err)
		}
	}

	drive(t, ctx, "passkeys", chromedp.Navigate(console+"#/passkeys"), browsing.Seen("#label"))
	for n, f := range []fault{killed, killedLate, cut} {
		label := "Key " + strconv.Itoa(n)
		plugged(t, ctx, webauthn.AuthenticatorTransportUsb)
		front.does(f+firstOnly, "POST /console/passkeys$")
		drive(t, ctx, string(f), script(`document.getElementById("label").value = ""`), browsing.Type("#label", label+"\n"), onPage(label))
		front.does(f+firstOnly, "POST /console/passkeys/revoke")
		revoked := browsing.Seen(`//li[contains(., "` + label + `")]//*[contains(text(), "revoked")]`)
		drive(t, ctx, string(f), browsing.Click(`button[aria-label="Revoke `+label+`"]`), revoked)
	}
	if all, err := c.Person.Passkeys(ctx); err != nil || len(all) != 4 {
		t.Errorf("the passkeys are %+v, %v", all, err)
	}
}
