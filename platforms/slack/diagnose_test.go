package slack_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
)

// TestAppToken checks that a diagnosis reports an app-level token that Slack
// refuses.
func TestAppToken(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	p, err := slack.New(slack.Options{
		Name: "slack", BotToken: sandbox.SlackBotToken, AppToken: "xapp-wrong", APIURL: server.URL + "/slack/api/",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Diagnose(t.Context(), bridge.Needs{}) {
		if f.Check != "slack.socket" {
			continue
		}
		if f.Status != bridge.FindingFailed || !strings.Contains(f.Fix, "connections:write") {
			t.Errorf("the finding is %+v, want %s", f, bridge.FindingFailed)
		}
		return
	}
	t.Error("the app-level token was not checked")
}
