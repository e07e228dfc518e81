package slackmsg

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestManyTinyParagraphsFit checks that a text that is short, but large as
// blocks, is shown in full without its markup, in every state.
func TestManyTinyParagraphsFit(t *testing.T) {
	t.Parallel()
	req := bridge.Request{Ask: bridge.Ask{
		Prompt: "x" + strings.Repeat("\n \t\nZ\n", 140), Questions: []bridge.Question{{Text: "?", Widget: bridge.WidgetText}},
	}}
	if err := req.Normalize(); err != nil {
		t.Fatal(err)
	}
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	i := bridge.Interaction{
		ID:       id,
		Ask:      bridge.Ask{Kind: req.Kind, Prompt: req.Prompt, Questions: req.Questions},
		Agent:    "agent",
		Schedule: bridge.Schedule{Created: time.Now(), Deadline: time.Now().Add(time.Minute)},
	}
	for _, state := range []bridge.State{bridge.StatePending, bridge.StateExpired} {
		v := bridge.NewView(bridge.Record{Interaction: i, State: state, Revision: 1}, 0, nil, func(bridge.Control) string {
			return strings.Repeat("0", bridge.TokenLength)
		})
		m, err := Build(v)
		if err != nil {
			t.Errorf("%s: %v", state, err)
		}
		if raw, err := json.Marshal(m.Blocks); err != nil || strings.Contains(string(raw), "Shortened") {
			t.Errorf("%s: the text was cut", state)
		}
	}
}
