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
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock(), Heartbeat: time.Second})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	p, err := discord.New(discord.Options{
		Name: "discord", BotToken: sandbox.DiscordToken, APIURL: server.URL + "/discord", NoPacing: true,
		DeafAfter: 3 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, &platformtest.Recorder{}) }()
	waitFor := func(what string, up bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); (p.Health().State == bridge.HealthUp) != up; {
			if time.Now().After(end) {
				t.Fatalf("%s: it is %s", what, p.Health().State)
			}
			bridge.Pause(ctx, 5*time.Millisecond)
		}
	}
	waitFor("it connects", true)
	since := p.Health().Since
	s.AddFault(sandbox.Fault{Service: "discord", Kind: "freeze"})
	waitFor("it is found stalled", false)
	s.ClearFaults()
	waitFor("it connects again", true)
	if !p.Health().Since.After(since) {
		t.Error("health does not say since when")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
