package discord_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestEmbedsAreCleared checks that messages which have text and embeds are closed,
// and redrawn with all of their text.
func TestEmbedsAreCleared(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	old := func() bridge.MessageRef {
		body := `{"content":"tester wants permission","embeds":[{"title":"Permission wanted","description":"rm -rf /srv"}],` +
			`"components":[{"type":1,"components":[{"type":2,"style":3,"label":"Run command","custom_id":"old"}]}],"allowed_mentions":{"parse":[]}}`
		url := d.Base + "/discord/api/v9/channels/" + sandbox.DiscordChannel + "/messages"
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bot "+sandbox.DiscordToken)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var m struct{ ID string }
		if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || m.ID == "" {
			t.Fatal(resp.Status, err)
		}
		return bridge.MessageRef{Channel: sandbox.DiscordChannel, Message: m.ID}
	}
	closed, redrawn, long := old(), old(), old()
	d.hideEmbeds()
	for ref, v := range map[bridge.MessageRef]bridge.View{
		closed:  round(0, "rm -rf /srv", bridge.StateApproved),
		redrawn: round(0, "rm -rf /srv", bridge.StatePending),
		long:    round(1, "the end", bridge.StateDenied),
	} {
		if err := d.p.Update(t.Context(), ref, v, nil); err != nil {
			t.Fatal(err)
		}
		if m := d.Sandbox.Message(d.Place(ref)); m["content"] != "" || len(m["embeds"].([]any)) > 0 {
			t.Errorf("the old text is still there: %v", m)
		}
	}
	d.want(closed, "Approved by", false)
	d.want(redrawn, "rm -rf /srv", true)
	d.want(long, "Denied by", false)
	d.want(long, "the end", false)
}
