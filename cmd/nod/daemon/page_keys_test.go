package daemon_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/nodbridge/nod/cmd/nod/demo"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// holds fails the test if a condition of the page is false.
func holds(t *testing.T, ctx context.Context, what, js string) {
	t.Helper()
	if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](js)); err != nil || !ok {
		t.Errorf("%s: %v, %v: %s", what, ok, err, js)
	}
}

// TestPageKeys checks the pane of the agent, and that the keyboard can use
// modals: the focus stays in them, and Escape closes them.
func TestPageKeys(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{})
	r.Sandbox.Tell("deploy-bot", sandbox.Note{Kind: "asks", Text: "Which region goes first?"}, sandbox.Note{Kind: "blocked",
		Text: "Blocked: the agent waits for a person."})
	drive(t, ctx, "open", chromedp.Navigate(r.Base), browsing.Seen("#slack"),
		browsing.Seen(`//aside[@id="agent"]//li[@class="blocked"]`))
	a := r.Ask(demo.Scenes()[3].Request)
	drive(t, ctx, "a modal opens", be("ana"), says("slack", "DROP TABLE"), browsing.Click("#slack .menu summary"), click("slack",
		"Deny with a reason"), browsing.Seen("#slack .modal textarea"))
	within := `document.querySelector("#slack .modal").contains(document.activeElement)`
	holds(t, ctx, "the modal has the focus", within)
	for range 8 {
		drive(t, ctx, "tab", chromedp.KeyEvent(kb.Tab))
		holds(t, ctx, "Tab stays in the modal", within)
	}
	drive(t, ctx, "Escape closes it", chromedp.KeyEvent(kb.Escape), browsing.Gone("#slack .modal"))
	a.Pending("slack")

	r.Ask(demo.Scenes()[5].Request)
	drive(t, ctx, "a phone", chromedp.EmulateViewport(360, 640), browsing.Click(`//button[@data-service="slack"]`),
		browsing.Click(`//section[@id="slack"]//article[last()]//button[contains(., "Answer")]`),
		browsing.Seen("#slack .modal input[type=date]"))
	holds(t, ctx, "a tall modal fits", `(() => {
		const m = document.querySelector("#slack .modal").getBoundingClientRect(),
			b = document.querySelector("#slack .modal .foot").getBoundingClientRect();
		const seen = document.elementFromPoint(b.left + b.width - 40, b.top + b.height / 2).closest(".foot") !== null;
		return m.top >= 0 && m.left >= 0 && m.right <= innerWidth && b.bottom <= innerHeight && seen;
	})()`)
	drive(t, ctx, "Escape closes it", chromedp.KeyEvent(kb.Escape), browsing.Gone("#slack .modal"))
	drive(t, ctx, "Telegram opens", browsing.Click(`//button[@data-service="telegram"]`), browsing.Seen("#telegram .messages"))
	holds(t, ctx, "at the newest message",
		`(() => {
		const m = document.querySelector("#telegram .messages");
		return m.scrollHeight > m.clientHeight && m.scrollTop + m.clientHeight > m.scrollHeight - 5;
	})()`)
	holds(t, ctx, "nothing is wider than the phone", `document.documentElement.scrollWidth <= innerWidth`)
}
