package discord_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestLink checks that nod links to a message with the server of its channel.
func TestLink(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one is remembered
		link := d.p.Link(t.Context(), ref)
		parts := strings.Split(strings.TrimPrefix(link, "https://discord.com/channels/"), "/")
		if len(parts) != 3 || len(parts[0]) < 17 || parts[1] != ref.Channel || parts[2] != ref.Message {
			t.Errorf("nod links to %q", link)
		}
	}
	if link := d.p.Link(t.Context(), bridge.MessageRef{Channel: "1", Message: "2"}); link != "" {
		t.Errorf("nod links to %q in a channel that does not exist", link)
	}
}
