package discord_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/sandbox"
)

func (d *discordDesk) connections(n int) func() bool {
	return func() bool { return d.Sandbox.Connections("discord") == n }
}

func (d *discordDesk) disconnect(code int) {
	d.T.Helper()
	if err := d.Sandbox.Disconnect("discord", code); err != nil {
		d.T.Fatal(err)
	}
	d.Eventually("it is disconnected", d.connections(0))
}

// TestResume checks that a lost connection costs no session, and that a click
// made in the meantime arrives.
func TestResume(t *testing.T) {
	t.Parallel()
	d := running(t, nil)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, code := range []int{0, 4000} {
		d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "refuse_connect"})
		d.disconnect(code)
		r, err := d.Sandbox.Person("ana").Press(t.Context(), d.Place(ref), "Run command")
		if err != nil || r.OK {
			t.Fatalf("a click while nothing is connected: %+v %v", r, err)
		}
		d.Sandbox.ClearFaults()
		d.Eventually("it connects again", d.connections(1))
		d.Eventually("the click arrives", func() bool { return len(d.sink.Clicks()) > n })
	}
	if n := d.Sandbox.State().Discord.Starts; n != 1 {
		t.Errorf("%d sessions were started", n)
	}
	d.disconnect(4009)
	d.Eventually("it connects after the end of the session", d.connections(1))
	if n := d.Sandbox.State().Discord.Starts; n != 2 {
		t.Errorf("%d sessions were started", n)
	}
}

// TestFlappingGateway checks that a gateway which ends every session does not
// cost the bot its token.
func TestFlappingGateway(t *testing.T) {
	t.Parallel()
	d := running(t, nil, func(_ *discord.Options, s *sandbox.Options) {
		s.DiscordStarts, s.DiscordStartsPer = 2, 8*time.Second
	})
	for range 3 {
		d.Eventually("it connects", func() bool {
			return d.connections(1)() || d.Sandbox.State().Discord.TokenReset
		})
		if d.Sandbox.State().Discord.TokenReset {
			t.Fatal("the token was reset")
		}
		d.disconnect(4009)
	}
}
