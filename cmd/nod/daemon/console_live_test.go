package daemon_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestConsoleKeepsWork checks that a live update takes nothing away from a
// person: not the text of a form, not a script that they opened, and not the
// focus, so that the rest of a text never becomes shortcuts.
func TestConsoleKeepsWork(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: withConsole})
	base := r.Daemons[0].URL + "/console/"
	shows := browsing.Seen
	drive(t, ctx, "log in", chromedp.Navigate(base), shows("#token"), browsing.Type("#token", rig.BoToken+"\n"), shows("h1"))
	read := func(js string) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](js))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	// event makes something happen and waits until the page has drawn it: an event
	// is drawn at most 1.5 s later.
	event := func(name string) {
		t.Helper()
		a := samples.Approval()
		a.Prompt = name
		r.Ask(a)
		bridge.Pause(ctx, 2500*time.Millisecond)
	}

	drive(t, ctx, "history", chromedp.Navigate(base+"#/history"), shows("input[type=search]"), script(`document.querySelector("input[type=search]").focus()`))
	top := func() string {
		return read(`String(document.querySelector("h1").getBoundingClientRect().top)`)
	}
	before := top()
	event("While the search has the focus")
	drive(t, ctx, "type", chromedp.KeyEvent("giant"))
	event("While a search is typed")
	if got := read(`location.hash + " " + document.querySelector("input[type=search]").value`); got != "#/history giant" {
		t.Errorf("after typing a search, the page is %q, want #/history giant", got)
	}
	if got := top(); got != before {
		t.Errorf("the button for the new content moved the page from %s to %s", before, got)
	}
	drive(t, ctx, "the new content is offered", browsing.Click(`//main//button[contains(., "Show changes")]`), shows(`//main//li[2]/a[@class="row"]`))

	long := samples.Approval()
	raw, err := json.Marshal(map[string]string{"command": strings.Repeat("echo line\n", 40)})
	if err != nil {
		t.Fatal(err)
	}
	long.Prompt, long.Approval.Tool, long.Approval.Input = "Builds the release.", "Bash", raw
	opened := r.Ask(long)
	row := `//li[@data-id="` + string(opened.Interaction.ID) + `"]`
	drive(t, ctx, "open a script", chromedp.Navigate(base+"#/inbox"), shows(row+`//button[contains(., "Show all")]`), script(`document.querySelector("button.expand").click()`),
		shows(row+`//button[@data-decision="once"]`), script(`document.activeElement.blur()`))
	event("While the script is read")
	drive(t, ctx, "it stays open", shows(row+`//button[@data-decision="once"]`), shows(`//button[contains(., "new request")]`))

	// The field disappears because someone else decides. The rest of the text
	// must not move the focus to a button, and Enter must not click one.
	other := r.Ask(samples.Approval())
	page := "#/i/" + string(other.Interaction.ID)
	drive(t, ctx, "a reason", chromedp.Navigate(base+page), shows("article"), browsing.Click(`//main//button[contains(., "Deny with a reason")]`))
	// A text ends after a pause, which a slow machine makes. For this page, none passes.
	drive(t, ctx, "stop the time of events", script(`Object.defineProperty(Event.prototype, "timeStamp", { value: 0 })`), chromedp.KeyEvent("w"))
	r.Press("ana", other.On("slack"), "Deny")
	for read(`String(document.querySelectorAll("textarea").length)`) != "0" {
		drive(t, ctx, "type", chromedp.KeyEvent("w"))
		bridge.Pause(ctx, 100*time.Millisecond)
	}
	drive(t, ctx, "type on", chromedp.KeyEvent("gi"), chromedp.KeyEvent("?"))
	if got := read(`location.hash + " " + document.querySelectorAll("dialog").length`); got != page+" 0" {
		t.Errorf("the rest of a text was taken for shortcuts: the page is %q, want %q", got, page+" 0")
	}
}
