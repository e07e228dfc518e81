package slackmsg_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
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

// TestHomeAsks checks that each button of the Home tab that decides asks first, and
// names its request: the tab can change while someone aims.
func TestHomeAsks(t *testing.T) {
	t.Parallel()
	keys, err := bridge.NewKeyring(make([]byte, bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	decide := 0
	for _, s := range rendertest.Samples() {
		r := s.View.Record
		if r.State.Final() || s.View.Waiting {
			continue
		}
		r.Interaction.ID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"
		w := bridge.Waiting{View: bridge.NewView(r, 0, nil, keys.Sign), Card: bridge.MessageRef{Channel: "C1", Message: "1.2"}}
		raw, err := json.Marshal(slackmsg.Home(slackmsg.Page{At: time.Unix(1795356000, 0), Overview: bridge.Overview{Waiting: []bridge.Waiting{w}}}))
		if err != nil {
			t.Fatal(err)
		}
		var page any
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		title := render.NewCard(w.View, func(bridge.Question) bool { return false }).HeadText()
		var walk func(any)
		walk = func(x any) {
			switch x := x.(type) {
			case []any:
				for _, y := range x {
					walk(y)
				}
			case map[string]any:
				token, _ := x["value"].(string)
				switch bridge.PeekAction(token) {
				case bridge.ActionChoose, bridge.ActionSubmit, bridge.ActionDecline:
					decide++
					confirm, _ := json.Marshal(x["confirm"])
					text, _ := json.Marshal(title)
					if first := strings.Trim(string(text), `"`); !strings.Contains(string(confirm), first[:min(len(first), 20)]) {
						t.Errorf("%s: %v asks %s; want a question with %s", s.Name, x["text"], confirm, text)
					}
				}
				for _, y := range x {
					walk(y)
				}
			}
		}
		walk(page)
	}
	if decide < 10 {
		t.Errorf("only %d buttons decide", decide)
	}
}
