package daemon_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// pictured returns the requests in docs/widgets.md, by the name of the picture.
func pictured() map[string]bridge.Request {
	few := []bridge.Option{{Value: "eu", Label: "Europe", Description: "Frankfurt"}, {Value: "us", Label: "United States", Description: "Ohio"}, {Value: "ap", Label: "Asia", Description: "Tokyo"}}
	ask := func(prompt string, q bridge.Question) bridge.Request {
		q.ID = "q"
		return bridge.Request{Ask: bridge.Ask{Prompt: prompt, Questions: []bridge.Question{q}}}
	}
	return map[string]bridge.Request{
		"approval": {Ask: bridge.Ask{
			Session: "release-42", Prompt: "The old table has **2.1 million rows** and nothing reads it now.", Approval: &bridge.Approval{Tool: "bash", Input: []byte(`{"command":"psql \"$PROD\" -c 'DROP TABLE orders_v1'"}`), Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}},
		}},
		"buttons":     ask("Which region?", bridge.Question{Widget: bridge.WidgetButtons, Options: few}),
		"confirm":     ask("Deploy now?", bridge.Question{Widget: bridge.WidgetConfirm}),
		"select":      ask("Which region?", bridge.Question{Widget: bridge.WidgetSelect, Options: few}),
		"radio":       ask("Which region?", bridge.Question{Widget: bridge.WidgetRadio, Options: few}),
		"checkbox":    ask("Which regions?", bridge.Question{Widget: bridge.WidgetCheckbox, Options: few}),
		"text":        ask("What shall the branch be called?", bridge.Question{Widget: bridge.WidgetText}),
		"number":      ask("How many replicas?", bridge.Question{Widget: bridge.WidgetNumber}),
		"date":        ask("When shall it go live?", bridge.Question{Widget: bridge.WidgetDate}),
		"plan_review": ask("Please review", bridge.Question{Widget: bridge.WidgetPlanReview, Plan: "1. Add the column\n2. Backfill it\n3. Switch the readers"}),
		"feedback":    ask("Two findings", bridge.Question{Widget: bridge.WidgetFeedback, Items: []bridge.Item{{ID: "a", Content: "A **race** in `Close`"}, {ID: "b", Content: "No test for timeouts"}}}),
		"form":        ask("A new service", bridge.Question{Widget: bridge.WidgetForm, Schema: []byte(`{"type":"object","required":["name"],"properties":{"name":{"type":"string","title":"Name"},"replicas":{"type":"integer","title":"Replicas","minimum":1},"public":{"type":"boolean","title":"Public?"}}}`)}),
		"notice":      {Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: "Version 2.3 is **live** in Europe."}},
	}
}

// TestPictures takes the picture of every widget on every platform, for
// `make screenshot`; without that it has nothing to show.
func TestPictures(t *testing.T) {
	t.Parallel()
	if os.Getenv("NOD_SCREENSHOTS") == "" {
		t.Skip("make screenshot takes them")
	}
	ctx := browser(t)
	for name, req := range pictured() {
		r := rig.New(t, rig.Options{})
		a := r.Ask(req)
		drive(t, ctx, name, chromedp.EmulateViewport(1280, 700), chromedp.Navigate(r.Base), browsing.Seen("#slack article"), browsing.Seen("#discord article"), browsing.Seen("#telegram article"))
		screenshot(t, ctx, "widget-"+name)
		_, _ = r.Agent.Cancel(r.Ctx, a.Interaction.ID, "") // a notice is over
	}
}
