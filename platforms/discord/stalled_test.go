package discord_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestOptions checks which options make an application.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]discord.Options{
		"no token": {}, "not a key": {BotToken: "x", PublicKey: "abcd"}, "not an address": {BotToken: "x", APIURL: "::"},
	} {
		if _, err := discord.New(o); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStalledGateway checks that a gateway whose connection stands but answers
// nothing is noticed and replaced. The SDK would wait for minutes.
func TestStalledGateway(t *testing.T) {
	t.Parallel()
	// The SDK ends a connection itself after five heartbeats without an answer.
	// Both limits are long, so that a busy machine does not look stalled.
	d := running(t, nil, func(o *discord.Options, s *sandbox.Options) { o.DeafAfter, s.Heartbeat = 3*time.Second, time.Second })
	p := d.p
	since := p.Health().Since
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "freeze"})
	d.Eventually("it is found stalled", func() bool { return p.Health().State != bridge.HealthUp })
	d.Sandbox.ClearFaults()
	d.Connected()
	if !p.Health().Since.After(since) {
		t.Error("health does not say since when")
	}
}
