package daemon_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// hourAhead sets the clock of the page an hour ahead, as that of a device that has
// slept, or whose clock is wrong.
var hourAhead = script(`((now) => (Date.now = () => now() + 3600e3))(Date.now.bind(Date))`)

// TestConsoleOldTab checks a tab that stays open for long: while the device sleeps,
// and while the daemon is upgraded.
func TestConsoleOldTab(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	front, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: through})
	drive(t, ctx, "sign in", signIn(r.Config.Console.URL+"/console/")...)
	front.does(silent, "GET /v1/events") // from now on: the stream that is open stays
	drive(t, ctx, "the device wakes up", hourAhead, isStale)
	front.does("")
	front.breaks()
	drive(t, ctx, "it is live again", isLive)
	front.does(upgraded, "GET /console/session")
	front.breaks()
	reload := `//*[@id="live"]//button[contains(., "reload")]`
	drive(t, ctx, "the daemon is upgraded", browsing.Seen(reload))
	front.does("")
	drive(t, ctx, "reload", browsing.Click(reload), browsing.Gone(reload), isLive)
}

// TestConsoleTimes checks that days are those of the person, and that times left
// and past count by the clock of the daemon.
func TestConsoleTimes(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	_, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: through})
	asked := r.Ask(samples.Approval())
	drive(t, ctx, "in Honolulu", func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Pacific/Honolulu"})
		return chromedp.Void{}, err
	})
	drive(t, ctx, "sign in", signIn(r.Config.Console.URL+"/console/")...)
	drive(t, ctx, "search a day", script(`location.hash = "#/history?since=2026-11-21&until=2026-11-21"`), browsing.Seen(`//h1[.="History"]`))
	drive(t, ctx, "its hours", until(`performance.getEntriesByType("resource").some((e) => e.name.includes("since=2026-11-21T10%3A00") && e.name.includes("until=2026-11-22T10%3A00"))`))
	drive(t, ctx, "a wrong clock", hourAhead, script(`location.hash = "#/i/`+string(asked.Interaction.ID)+`"`), browsing.Seen(`time[data-as="left"]`))
	holds(t, ctx, "the deadline", `!document.body.innerText.includes("passed") && / (s|min|h) left/.test(document.querySelector('time[data-as=left]').textContent)`)
}

// TestShortcutsOff checks that a person can switch the shortcuts off permanently.
func TestShortcutsOff(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	_, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: through})
	drive(t, ctx, "sign in", signIn(r.Config.Console.URL+"/console/")...)
	press := script(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true, cancelable: true }))`)
	closed := browsing.Click(`dialog.help button`)
	drive(t, ctx, "switch them off", press, browsing.Click(`dialog.help input`), closed, browsing.Gone("dialog.help"), press)
	holds(t, ctx, "a key opens nothing", `!document.querySelector("dialog.help")`)
	drive(t, ctx, "reload", chromedp.Reload(), isLive, press)
	holds(t, ctx, "a key opens nothing after a reload", `!document.querySelector("dialog.help")`)
	drive(t, ctx, "switch them on", browsing.Click("#help"), browsing.Click(`dialog.help input`), closed, browsing.Gone("dialog.help"), press, browsing.Seen("dialog.help"))
}

// TestSignTrouble checks what the page to sign says where no passkey can be used,
// and that a dialog that never ends does not end the page.
func TestSignTrouble(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: withStepUp})
	authenticator(t, ctx)
	enrolled(t, ctx, r)
	asked := r.Ask(samples.Approval(bridge.ScopeOnce))
	seen := linkFor(r, "ana", "slack")
	r.Approve("ana", asked.On("slack"))
	drive(t, ctx, "open the page", chromedp.Navigate(linked(r, "slack", seen)), browsing.Seen("#passkey"))
	gets := func(js string) string {
		return `; window.real ??= navigator.credentials.get.bind(navigator.credentials); navigator.credentials.get = ` + js
	}
	says := func(what, js, text string) {
		t.Helper()
		drive(t, ctx, what, script(`(() => { `+js+` })()`), browsing.Click("#passkey"), browsing.Seen(`//p[@id="problem"][contains(., "`+text+`")]`))
	}
	says("plain http", `Object.defineProperty(window, "isSecureContext", { value: false, configurable: true })`, "need https")
	says("a web view", `Object.defineProperty(window, "isSecureContext", { value: true, configurable: true }); window.kept = PublicKeyCredential; delete window.PublicKeyCredential`, "Open this page in your usual browser")
	says("another address", `window.PublicKeyCredential = window.kept; `+gets(`() => Promise.reject(new DOMException("The RP ID is wrong", "SecurityError"))`), "Use the link from the card")
	says("an error of the browser", gets(`async () => undefined.id`), "The browser cannot use a passkey here (TypeError)")
	says("a broken extension", gets(`() => { throw new TypeError("x") }`), "The browser cannot use a passkey here (TypeError)")
	says("cancelled", gets(`() => Promise.reject(new DOMException("x", "NotAllowedError"))`), "Nothing was signed")
	drive(t, ctx, "a dialog that never ends", script(`(() => { `+gets(`() => new Promise(() => {})`)+` })()`), browsing.Click("#passkey"), browsing.Seen("#passkey:enabled"))
	asked.StillPending()
	drive(t, ctx, "again", script(`(() => { `+gets(`window.real`)+` })()`), browsing.Click("#passkey"), browsing.Seen(`//p[@id="done"][contains(., "approved once")]`))
	asked.End()
}

// TestConsoleDaemonKilled checks that a page outlives a daemon that is killed, and
// that what the person typed reaches the next one.
func TestConsoleDaemonKilled(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	c := rig.NewCrash(t, "slack")
	c.Configure("console: {enabled: true}\n")
	c.ConnectedOn("slack")
	rec, err := c.Agent.Open(t.Context(), bridge.Request{Ask: bridge.Ask{Prompt: "New service", Questions: []bridge.Question{{ID: "name", Text: "Name", Widget: bridge.WidgetText}}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	drive(t, ctx, "sign in", signIn(c.URL+"/console/#/i/"+string(rec.Interaction.ID))...)
	name := `document.querySelector("input[name=name]").value === "billing"`
	drive(t, ctx, "fill it in", browsing.Type(`input[name="name"]`, "billing"))
	c.Kill()
	drive(t, ctx, "the daemon is gone", isStale)
	holds(t, ctx, "the text stays", name)
	submit := browsing.Click(`//main//button[contains(., "Submit")]`)
	drive(t, ctx, "submit", submit, browsing.Seen(`//div[@id="said"][contains(., "unknown whether")]`))
	holds(t, ctx, "the text stays after a failure", name)
	c.Restart()
	drive(t, ctx, "the next daemon", isLive)
	holds(t, ctx, "the text stays after a restart", name)
	drive(t, ctx, "submit again", submit, onPage("answered by bo"))
	got, err := c.Agent.Get(t.Context(), rec.Interaction.ID)
	if err != nil || got.State != bridge.StateAnswered || got.Response.Answers["name"].Text != "billing" {
		t.Errorf("%+v, %v", got.Response, err)
	}
}
