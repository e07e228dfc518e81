package daemon_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/demo"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// browser starts headless Chromium. In short mode, only TestConsole uses one.
func browser(t *testing.T) context.Context {
	t.Helper()
	level.CI(t)
	return newBrowser(t)
}

// newBrowser starts headless Chromium. Without one the test is skipped: the
// page is part of the sandbox, and CI has a browser.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium; `make test` installs it in CI")
		}
		t.Skip("no Chromium on this machine")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true),
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1500, 950), chromedp.WSURLReadTimeout(await.Limit))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stopAlloc)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); stop() })                     // the browser may be gone
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // the browser lives as long as this context
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*await.Limit) // each step has a limit of its own
	t.Cleanup(cancel)
	return ctx
}

func drive(t *testing.T, ctx context.Context, what string, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	for i, action := range actions {
		step, cancel := context.WithTimeout(ctx, await.Limit)
		err := chromedp.Do(step, action)
		cancel()
		if err != nil {
			after, stop := context.WithTimeout(ctx, await.Limit)
			defer stop()
			shown, unseen := chromedp.Run(after, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
			t.Fatalf("%s, action %d of %d: %v\nthe page shows: %s (%v)", what, i+1, len(actions), err, shown, unseen)
		}
	}
}

// click clicks the button with a label in a section.
func click(scope, label string) chromedp.Action[chromedp.Void] {
	path := `//section[@id="` + scope + `"]//button[contains(., "` + label + `")]`
	return browsing.Click(path)
}

func says(scope, text string) chromedp.Action[chromedp.Void] {
	return browsing.Seen(`//section[@id="` + scope + `"]//*[contains(text(), "` + text + `")]`)
}

func be(member string) chromedp.Action[chromedp.Void] {
	return script(`(() => { const w = document.getElementById("who"); w.value = "` + member + `"; w.dispatchEvent(new Event("change")); })()`)
}

// script runs JavaScript and forgets what it yields.
func script(js string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[bool]("("+js+", true)")(ctx, t)
		return chromedp.Void{}, err
	}
}

func screenshot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("NOD_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), compact(t, png), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPage answers on the page as a person would: by clicking, ticking and
// typing, on all three chats, at the width of a screen and of a phone.
func TestPage(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{})
	drive(t, ctx, "open", chromedp.Navigate(r.Base), browsing.Seen("#slack"))

	danger := demo.Scenes()[3].Request
	a := r.Ask(danger)
	drive(t, ctx, "the card is on all three", says("slack", "DROP TABLE"), says("discord", "DROP TABLE"), says("telegram", "DROP TABLE"))
	axe(t, ctx, "the chats")
	screenshot(t, ctx, "demo")
	drive(t, ctx, "mal is refused", be("mal"), click("slack", "Run command"), says("slack", "may not answer"))
	drive(t, ctx, "ana does not see that", be("ana"), browsing.Gone(`#slack .note`))
	drive(t, ctx, "a modal opens on slack", browsing.Click("#slack .menu summary"), click("slack", "Deny with a reason"), browsing.Seen("#slack .modal textarea"))
	axe(t, ctx, "a modal of slack")
	screenshot(t, ctx, "modal")
	drive(t, ctx, "closing it is not an answer", click("slack", "Cancel"), browsing.Gone("#slack .modal"))
	a.Pending("slack")
	drive(t, ctx, "a reply denies on telegram", click("telegram", "More…"), click("telegram", "Deny with a reason"), says("telegram", "reply to this message"),
		browsing.Type("#telegram .composer input", "not today\n"), says("slack", "not today"), says("discord", "not today"))
	if got := a.End(); got.State != bridge.StateDenied || got.Response.Reason != "not today" {
		t.Errorf("the response is %s %+v, want a denial with its reason", got.State, got.Response)
	}

	b := r.Ask(samples.One(bridge.WidgetCheckbox, samples.Choices("api", "cron", "web")...))
	drive(t, ctx, "ticks in a modal on discord", click("discord", "Choose"), browsing.Seen("#discord .modal"),
		browsing.Click(`//section[@id="discord"]//label[contains(., "Cron")]`), click("discord", "Submit"), browsing.Gone("#discord .modal"))
	if got := b.End(); got.State != bridge.StateAnswered || got.Response.Answers["q"].String() != "cron" {
		t.Errorf("the response is %s %+v, want cron", got.State, got.Response)
	}

	c := r.Ask(samples.One(bridge.WidgetSelect, samples.Choices("eu", "us")...))
	last := `//section[@id="slack"]//article[last()]`
	drive(t, ctx, "chooses on slack", browsing.Seen(last+`//select`),
		browsing.Set(last+`//select`, "1"),
		script(`[...document.querySelectorAll("#slack article:last-child select")].forEach((s) => s.dispatchEvent(new Event("change")))`),
		browsing.Click(last+`//button[contains(., "OK")]`))
	if got := c.End(); got.Response.Answers["q"].Text != "us" {
		t.Errorf("the response is %s %+v, want us", got.State, got.Response)
	}
	c.Closed("ana")

	// A form with every kind of field, in pages, with the review at the end.
	f := r.Ask(everyField())
	article := `//section[@id="slack"]//article[last()]`
	drive(t, ctx, "the native inputs on slack", browsing.Click(article+`//button[contains(., "Answer")]`), browsing.Seen(`#slack .modal input[type=date]`),
		browsing.Seen(`#slack .modal input[type=email]`), browsing.Seen(`#slack .modal input[type=number]`))
	screenshot(t, ctx, "form")
	drive(t, ctx, "closed again", click("slack", "Cancel"), browsing.Gone("#slack .modal"))
	discordForm(r, f)
	drive(t, ctx, "the card shows the form's answers", says("slack", "billing"), says("telegram", "Gold"))

	// A member sends a command, and answers.
	g := r.Ask(samples.Approval())
	drive(t, ctx, "a command", browsing.Type("#discord .composer input", "/nod who\n"), says("discord", "You are ana"))
	drive(t, ctx, "an answer", browsing.Click(`//section[@id="discord"]//article[.//button[contains(., "Run command")]]//button[contains(., "Run command")]`))
	g.End()
	g.Closed("ana")

	// A new visitor sees how the sessions ended.
	drive(t, ctx, "a new visit", chromedp.Navigate(r.Base), browsing.Seen("#slack"), says("slack", "not today"), says("discord", "billing"),
		browsing.Gone(`#telegram .keyboard button`))

	d := r.Ask(samples.Approval())
	drive(t, ctx, "a phone", chromedp.EmulateViewport(390, 844), browsing.Click(`//button[@data-service="telegram"]`), click("telegram", "Run command"))
	screenshot(t, ctx, "phone")
	if got := d.End(); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
	wider, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
	if err != nil || wider {
		t.Errorf("the page is wider than a phone: %v, %v", wider, err)
	}
}
