package discord_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// gatewayDesk is a Discord platform that runs on a gateway.
type gatewayDesk struct {
	*discordDesk
	sink *platformtest.Recorder
}

func newGatewayDesk(t *testing.T, o sandbox.Options) *gatewayDesk {
	t.Helper()
	d := &gatewayDesk{&discordDesk{t: t}, &platformtest.Recorder{}}
	d.run(o, d.sink)
	return d
}

// run connects the platform to a sandbox, with a sink.
func (d *discordDesk) run(o sandbox.Options, sink bridge.Sink) {
	d.t.Helper()
	o.NoLimits = true
	d.sandbox = sandbox.New(o)
	server := httptest.NewServer(d.sandbox)
	d.t.Cleanup(func() { d.sandbox.Close(); server.CloseClientConnections(); server.Close() })
	var err error
	d.p, err = discord.New(discord.Options{
		Name: "discord", BotToken: sandbox.DiscordToken, APIURL: server.URL + "/discord", NoPacing: true,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.p.Run(ctx, sink) }()
	d.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Error(err)
		}
	})
}

func (d *gatewayDesk) within(what string, ok func() bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	if d.sandbox.Wait(ctx, ok) != nil {
		d.t.Fatal("not in time:", what)
	}
}

func (d *gatewayDesk) connections(n int) func() bool {
	return func() bool { return d.sandbox.State().Discord.Connections == n }
}

func (d *gatewayDesk) disconnect(code int) {
	d.t.Helper()
	if err := d.sandbox.Disconnect("discord", code); err != nil {
		d.t.Fatal(err)
	}
	d.within("it is disconnected", d.connections(0))
}

// TestResume checks that a lost connection costs no session, and that a click
// made in the meantime arrives.
func TestResume(t *testing.T) {
	t.Parallel()
	d := newGatewayDesk(t, sandbox.Options{})
	d.within("it connects", d.connections(1))
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, code := range []int{0, 4000} {
		d.sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "refuse_connect"})
		d.disconnect(code)
		r, err := d.sandbox.Person("ana").Press(t.Context(), d.at(ref), "Run command")
		if err != nil || r.OK {
			t.Fatalf("a click while nothing is connected: %+v %v", r, err)
		}
		d.sandbox.ClearFaults()
		d.within("it connects again", d.connections(1))
		for end := time.Now().Add(time.Minute); len(d.sink.Clicks()) <= n; bridge.Pause(t.Context(), 5*time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the click was lost")
			}
		}
	}
	if n := d.sandbox.State().Discord.Starts; n != 1 {
		t.Errorf("%d sessions were started", n)
	}
	d.disconnect(4009)
	d.within("it connects after the end of the session", d.connections(1))
	if n := d.sandbox.State().Discord.Starts; n != 2 {
		t.Errorf("%d sessions were started", n)
	}
}

// TestFlappingGateway checks that a gateway which ends every session does not
// cost the bot its token.
func TestFlappingGateway(t *testing.T) {
	t.Parallel()
	d := newGatewayDesk(t, sandbox.Options{DiscordStarts: 2, DiscordStartsPer: 8 * time.Second})
	for range 3 {
		d.within("it connects", func() bool {
			st := d.sandbox.State().Discord
			return st.Connections == 1 || st.TokenReset
		})
		if d.sandbox.State().Discord.TokenReset {
			t.Fatal("the token was reset")
		}
		d.disconnect(4009)
	}
}
