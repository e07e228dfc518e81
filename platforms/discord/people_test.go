package discord_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestPings checks which roles a mention notifies, and what nod doctor says
// about them. The role with the ID of the server, @everyone, is not mentionable.
func TestPings(t *testing.T) {
	t.Parallel()
	p := newDiscordDesk(t).p
	const guild = sandbox.DiscordGuild
	for group, want := range map[string]bridge.FindingStatus{
		guild + "/" + sandbox.DiscordRole: bridge.FindingOK,
		guild + "/" + guild:               bridge.FindingWarning,
		guild + "/1":                      bridge.FindingFailed,
		"1/1":                             bridge.FindingFailed,
	} {
		ok := want == bridge.FindingOK
		if got := p.Pings(t.Context(), group); got != ok {
			t.Errorf("%s: pings %t", group, got)
		}
		for _, f := range p.Diagnose(t.Context(), bridge.Needs{Groups: []string{group}}) {
			if f.Check == "discord.role."+group && (f.Status != want || f.Detail == "" || (f.Fix == "") != ok) {
				t.Errorf("%s: %+v", group, f)
			}
		}
	}
}
