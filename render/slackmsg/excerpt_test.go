package slackmsg_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

// TestExcerptOfAPlan checks that the card of a plan that is too long for it shows
// the first steps, and not only the title.
func TestExcerptOfAPlan(t *testing.T) {
	t.Parallel()
	var steps strings.Builder
	for n := range 200 {
		fmt.Fprintf(&steps, "%d. Move the sessions of shard %d, compare both stores, and switch its reads\n", n+1, n)
	}
	i := bridge.Interaction{
		ID: "00000000-0000-7000-8000-000000000000", Agent: "a",
		Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: "Move the sessions", Questions: []bridge.Question{
			{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: steps.String()},
		}},
	}
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string { return "token" })
	m, err := slackmsg.Build(v)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"shard 0,": true, "shard 7,": true, "shard 9,": false, " of 200.": true} {
		if strings.Contains(string(raw), word) != want {
			t.Errorf("the card says %q: %t, want %t:\n%s", word, !want, want, raw)
		}
	}
}
