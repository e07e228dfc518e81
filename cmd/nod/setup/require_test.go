package setup

import (
	"context"
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestRequire checks which agents the doctor reports, and that a level below the
// required one fails.
func TestRequire(t *testing.T) {
	_, write := scratch(t)
	write("bin/claude", "#!/bin/sh\necho 2.1.330\n")
	write("bin/nod", "#!/bin/sh\n")
	write(".cursor/used", "")
	write(".claude/settings.json", `{"hooks":{"PermissionRequest":[{"matcher":"*","hooks":[{"type":"command","command":"nod hook claude"}]}]}}`)
	level := func(d Doctor, agent string) bridge.FindingStatus {
		d.examineAgents(context.Background())
		if len(d.Agents) != 2 {
			t.Errorf("%+v", d.Agents)
		}
		n := slices.IndexFunc(d.Findings, func(f bridge.Finding) bool { return f.Check == "agent."+agent+".level" })
		if n < 0 {
			return ""
		}
		return d.Findings[n].Status
	}
	for _, c := range []struct {
		doctor         Doctor
		claude, cursor bridge.FindingStatus
	}{
		{Doctor{}, bridge.FindingOK, ""},
		{Doctor{OnlyAgents: true}, bridge.FindingOK, bridge.FindingWarning},
		{Doctor{Require: LevelPartly}, bridge.FindingOK, bridge.FindingFailed},
		{Doctor{OnlyAgents: true, Require: LevelNone}, bridge.FindingOK, bridge.FindingWarning},
		{Doctor{OnlyAgents: true, Require: LevelGated}, bridge.FindingFailed, bridge.FindingFailed},
	} {
		if claude, cursor := level(c.doctor, "claude"), level(c.doctor, "cursor"); claude != c.claude || cursor != c.cursor {
			t.Errorf("%+v: Claude Code %q, Cursor %q", c.doctor, claude, cursor)
		}
	}
}
