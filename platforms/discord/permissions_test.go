package discord_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// permissions are those that the bot asks for, by their bits and by the names
// of the sandbox, with how much it matters if one is missing.
var permissions = []struct {
	bit     int
	name    string
	sandbox string
	status  bridge.FindingStatus
}{
	{10, "View Channel", "VIEW_CHANNEL", bridge.FindingFailed},
	{11, "Send Messages", "SEND_MESSAGES", bridge.FindingFailed},
	{14, "Embed Links", "EMBED_LINKS", bridge.FindingWarning},
	{15, "Attach Files", "ATTACH_FILES", bridge.FindingFailed},
	{16, "Read Message History", "READ_MESSAGE_HISTORY", bridge.FindingWarning},
	{35, "Create Public Threads", "CREATE_PUBLIC_THREADS", bridge.FindingWarning},
	{38, "Send Messages in Threads", "SEND_MESSAGES_IN_THREADS", bridge.FindingWarning},
}

// TestDiscordPermissions checks that the invite asks for each permission, and
// that a diagnosis names the one that is missing.
func TestDiscordPermissions(t *testing.T) {
	t.Parallel()
	want := 0
	for _, x := range permissions {
		want |= 1 << x.bit
		d := newDiscordDesk(t)
		d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: x.sandbox})
		found := d.channel()
		if found.Status != x.status || !strings.Contains(found.Fix, "allow "+x.name+" for") {
			t.Errorf("%s: %+v", x.name, found)
		}
	}
	d := newDiscordDesk(t)
	if found := d.channel(); found.Status != bridge.FindingOK {
		t.Errorf("with all of them: %+v", found)
	}
	invite, err := d.p.Invite(t.Context())
	if err != nil || !strings.HasSuffix(invite, "permissions=309237763072") || want != 309237763072 {
		t.Errorf("the invite is %s, %v; want permissions=%d", invite, err, want)
	}
}

// channel is the finding on the sandbox's channel.
func (d *discordDesk) channel() bridge.Finding {
	d.T.Helper()
	needs := bridge.Needs{Destinations: []bridge.Destination{{Platform: "discord", Channel: sandbox.DiscordChannel}}}
	for _, f := range d.p.Diagnose(d.Ctx, needs) {
		if f.Check == "discord.channel."+sandbox.DiscordChannel {
			return f
		}
	}
	d.T.Fatal("the channel was not examined")
	return bridge.Finding{}
}

// TestDiscordWithoutPermission checks what happens to a request where the bot
// lacks a permission.
func TestDiscordWithoutPermission(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		missing string
		long    bool
		works   bool
	}{
		{"VIEW_CHANNEL", false, false}, {"SEND_MESSAGES", false, false}, {"ATTACH_FILES", true, false},
		{"ATTACH_FILES", false, true}, {"EMBED_LINKS", true, true}, {"READ_MESSAGE_HISTORY", true, true}, {"CREATE_PUBLIC_THREADS", true, true},
	} {
		d := newDiscordDesk(t)
		d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: x.missing})
		n := 0
		if x.long {
			n = 1
		}
		parts := bridge.NewParts(nil, nil)
		ref, err := d.post(round(n, "rm -rf /srv", bridge.StatePending), parts)
		switch {
		case x.works && err != nil:
			t.Errorf("without %s: %v", x.missing, err)
		case x.works:
			d.want(ref, "rm -rf /srv", true)
		case bridge.ErrorCode(err) != bridge.CodeForbidden:
			t.Errorf("without %s the error is %v", x.missing, err)
		case len(parts.Sent()) > 0:
			d.want(parts.Sent()[0], "Cannot be answered here", false)
		}
	}
}
