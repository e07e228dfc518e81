package discord_test

import (
	"encoding/hex"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestEndpoint checks the diagnosis of HTTP mode.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	right := hex.EncodeToString(s.DiscordPublicKey())
	check := func(key, name string, want bridge.FindingStatus, fix string) {
		t.Helper()
		p, err := discord.New(discord.Options{
			Name: "discord", BotToken: sandbox.DiscordToken, PublicKey: key, APIURL: server.URL + "/discord",
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Diagnose(t.Context(), bridge.Needs{}) {
			if f.Check == "discord."+name {
				if f.Status != want || !strings.Contains(f.Fix, fix) {
					t.Errorf("%+v", f)
				}
				return
			}
		}
		t.Errorf("%s was not checked", name)
	}
	check(strings.Repeat("ab", 32), "public_key", bridge.FindingFailed, "General Information")
	check(right, "endpoint", bridge.FindingFailed, "/discord/interactions")
	s.AddFault(sandbox.Fault{Service: "discord", Kind: "endpoint"})
	check(right, "endpoint", bridge.FindingOK, "")
}
