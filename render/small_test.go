package render_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/slackmsg"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// hostile holds texts that take much more room on a card than in a request.
var hostile = []string{
	"a", "W", " ", "&", "<", ">", "\n", "\n\n", "* ", "\n* a", "**a** ", "_a_ ", "`a` ", "~~a~~ ", "\n```\n", "\n# ", "\n> ", "[a](http://a.b) ", "|", "\\", "\"", "'", ".", "?", "/", ";", "%",
	"\u200b", "\u202e", "\x00", "\x1b", "\xff", "\u00ad", "\U000e0041", "é", "日", "👩‍👩‍👧", "\n1. ", "\n- [ ] ", "\t", "@here ", "<!channel>", "http://a.b ", "\r\n", "---\n",
}

// TestSmall checks that each platform shows every card that counts as small. It
// tries texts of one kind and of many kinds, up to the limit.
func TestSmall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	small, large := 0, 0
	for n := range 2500 {
		text := func() string {
			var b strings.Builder
			one := hostile[r.IntN(len(hostile))]
			for range r.IntN([]int{2, 10, 60, 400, 2900}[r.IntN(5)]) {
				if n%2 == 0 {
					one = hostile[r.IntN(len(hostile))]
				}
				b.WriteString(one)
			}
			return b.String()
		}
		i := smallCandidate(r, text)
		if !render.Small(i) {
			large++
			continue
		}
		small++
		v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
			return fmt.Sprintf("%0*d", bridge.TokenLength, 0)
		})
		m, err := slackmsg.Build(v)
		if err != nil || m.Refused != nil {
			t.Fatalf("slack: %v %v: %+v", err, m.Refused, i)
		}
		if _, err := discordmsg.Build(v); err != nil {
			t.Fatalf("%v: %+v", err, i)
		}
		if _, err := telegrammsg.Build(v); err != nil {
			t.Fatalf("%v: %+v", err, i)
		}
	}
	if small < 300 || large < 300 {
		t.Errorf("%d were small, %d were not", small, large)
	}
}

// smallCandidate returns a request with random texts in one or all of its fields.
func smallCandidate(r *rand.Rand, text func() string) bridge.Interaction {
	now := time.Now().UTC()
	input, _ := json.Marshal(map[string]any{"command": "ls", "more": []string{"a", "b"}})
	switch r.IntN(4) {
	case 0:
		input, _ = json.Marshal(map[string]any{text(): text(), "x": []any{1, text(), nil, map[string]any{"y": true}}})
	case 1:
		input = []byte(strings.Repeat("[", r.IntN(30)))
		input = []byte(string(input) + "1" + strings.Repeat("]", len(input)))
	case 2:
		input = nil
	}
	i := bridge.Interaction{
		ID: "01a207bf-8023-71da-b5f9-6e4dd8623105", Agent: "ci", Digest: strings.Repeat("a", 64),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?", Route: "default", Grace: bridge.Duration(time.Second),
			Approval: &bridge.Approval{Tool: "bash", Input: input, Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}},
		},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Hour), Steps: []bridge.Step{{After: bridge.Duration(time.Minute), Remind: true}}, Snooze: bridge.Duration(time.Hour)},
	}
	for n := range 1 + r.IntN(15) {
		i.Responders = append(i.Responders, bridge.Responder{Person: fmt.Sprint("person", n), Platform: "slack", User: fmt.Sprint("U", n)})
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "slack", Channel: fmt.Sprint("C", n)})
	}
	fields := []*string{
		&i.Prompt, &i.Error, &i.Agent, &i.Session, &i.ToolName, &i.Requester, &i.Route, &i.OwnRoute, &i.Rule, &i.Risk, &i.Approval.Tool, &i.Approval.Where,
		&i.Responders[0].Person, &i.Responders[0].User, &i.Destinations[0].Channel,
	}
	if r.IntN(2) == 0 {
		*fields[r.IntN(len(fields))] = text()
		return i
	}
	for _, f := range fields {
		if r.IntN(3) == 0 {
			*f = text()
		}
	}
	return i
}
