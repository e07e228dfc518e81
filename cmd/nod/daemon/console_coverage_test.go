package daemon_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
)

// TestConsoleCoverage checks that the console shows the coverage that hosts
// report, and that hostile text in a report stays text.
func TestConsoleCoverage(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: withConsole})
	page := r.Daemons[0].URL + "/console/#/coverage"
	drive(t, ctx, "log in", chromedp.Navigate(r.Daemons[0].URL+"/console/"), browsing.Seen("#token"), browsing.Type("#token", rig.BoToken+"\n"), browsing.Gone("#token"))
	drive(t, ctx, "without a report", chromedp.Navigate(page), browsing.Seen(`//main//p[contains(., "No host has reported yet")]`))
	axe(t, ctx, "coverage without a report")
	err := client.New(r.Daemons[0].URL, rig.TestAgentToken, nil).ReportCoverage(t.Context(), bridge.HostCoverage{Host: "laptop", User: "ana", Program: "0.2.0", Agents: []bridge.AgentCoverage{
		{Agent: "claude", Title: "Claude Code", Version: "2.1.330", Level: bridge.CoverageGated, Reasons: []string{"* in /home/ana/.claude/settings.json fails closed in Claude Code 2.1.330"}, Tested: "2.1.330"},
		{Agent: "codex", Title: "Codex", Version: "0.170.0", Level: bridge.CoveragePartly, Reasons: []string{"/home/ana/.codex/hooks.json asks in chat when Codex asks; if nod fails, Codex asks at its terminal"}, Tested: "0.169.0"},
		{Agent: "cursor", Title: "<b>Cursor</b>", Level: bridge.CoverageOpen, Reasons: []string{"a hook of Cursor fails open: it does not set failClosed"}, Fix: `set "failClosed": true on it`},
		{Agent: "gemini", Title: "Gemini CLI", Level: bridge.CoverageNone, Reasons: []string{"nod is not in /home/ana/.gemini/settings.json"}, Fix: "run: nod init all"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, ctx, "with a report", chromedp.Navigate("about:blank"), chromedp.Navigate(page),
		browsing.Seen(`//main//h2[.="ana on laptop"]`), browsing.Seen(`//main//strong[.="<b>Cursor</b>"]`),
		browsing.Seen(`//main//span[.="fails open"]`), browsing.Seen(`//main//p[contains(., "Tested with 0.169.0, not with 0.170.0")]`))
	axe(t, ctx, "coverage")
	screenshot(t, ctx, "console-coverage")
	drive(t, ctx, "a phone", chromedp.EmulateViewport(360, 800))
	wide, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`))
	if err != nil || wide {
		t.Errorf("the page is wider than the screen of a phone: %v", err)
	}
}
