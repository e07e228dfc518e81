package slackmsg_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

// TestPlainHome checks that nothing that an agent sent is read as markup in the
// Home tab, and that no request has controls there unless all of it is shown.
func TestPlainHome(t *testing.T) {
	t.Parallel()
	const sent = "*a* `b` _c_ <@U1>"
	for _, s := range rendertest.Samples() {
		i := &s.View.Record.Interaction
		i.Agent, i.Session, i.Prompt = sent, sent, sent
		page := slackmsg.Page{At: time.Unix(1795356000, 0), Team: "https://acme.slack.com/", Note: sent}
		if page.Decided = []bridge.Record{s.View.Record}; !s.View.Record.State.Final() {
			page.Decided, page.Waiting = nil, []bridge.Waiting{{
				View: s.View, Elsewhere: s.View.Waiting, Card: bridge.MessageRef{Channel: "C1", Message: "1.2"},
			}}
		}
		page.Grants = []bridge.Grant{{Agent: sent, Key: "exact:1", Covers: sent, At: page.At, Givers: []bridge.Actor{{Person: "ana"}}}}
		raw, err := json.Marshal(slackmsg.Home(page))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range regexp.MustCompile(`\{"type":"mrkdwn"[^}]*\}`).FindAllString(string(raw), -1) {
			if strings.Contains(text, "*a*") {
				t.Errorf("%s: %s", s.Name, text)
			}
		}
		shown, controls := strings.Contains(string(raw), `"block_id":"head-`), strings.Contains(string(raw), `"token-`)
		if shown != controls || s.View.Waiting && controls {
			t.Errorf("%s: shown in full: %v, with controls: %v", s.Name, shown, controls)
		}
		page.Bare = true
		if raw, err = json.Marshal(slackmsg.Home(page)); err != nil || strings.Contains(string(raw), `"token-`) {
			t.Errorf("%s: a bare tab has controls, %v", s.Name, err)
		}
		if i.Approval != nil && strings.Contains(string(raw), " says:") {
			t.Errorf("%s: the short form of an approval is more than its headline: %s", s.Name, raw)
		}
	}
}
