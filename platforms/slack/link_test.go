package slack_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestLink checks that nod links to a message of a channel and of a thread as
// Slack does.
func TestLink(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := s.posts(approval("one"), "")
	api := slack.New(sandbox.SlackBotToken, slack.OptionAPIURL(s.Base+"/slack/api/"))
	for _, at := range []bridge.MessageRef{root, s.posts(approval("two"), root.Message)} {
		want, err := api.GetPermalinkContext(t.Context(), &slack.PermalinkParameters{Channel: at.Channel, Ts: at.Message})
		_, path, _ := strings.Cut(want, "/archives/") // the address of the sandbox differs from that of its workspace
		if got := s.slack.Link(t.Context(), at); err != nil || path == "" || !strings.HasSuffix(got, "/archives/"+path) {
			t.Errorf("nod links to %s, Slack to %s, %v", got, want, err)
		}
	}
}
