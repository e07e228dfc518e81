package telegrammsg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// TestClosedFits checks that a card that fits while it is pending fits when it
// is closed, with each length of its first paragraph.
func TestClosedFits(t *testing.T) {
	t.Parallel()
	for n := 100; n < 4000; n += 100 {
		i := bridge.Interaction{
			ID: "01a2088b-2675-718c-bcfa-9c367a3eab0c", Agent: "tester", Schedule: bridge.Schedule{Deadline: time.Unix(1_800_000_000, 0)},
			Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: strings.Repeat("é", n), Questions: []bridge.Question{
				{ID: "q0", Widget: bridge.WidgetPlanReview, Text: "Review it", Plan: strings.Repeat("a line of the plan\n", 40)},
				{ID: "q1", Widget: bridge.WidgetPlanReview, Text: strings.Repeat("word ", 150), Plan: "p"},
			}},
		}
		build := func(r bridge.Record) (telegrammsg.Message, error) {
			return telegrammsg.Build(bridge.NewView(r, 0, nil, func(bridge.Control) string { return "token" }))
		}
		if _, err := build(bridge.Record{Interaction: i, State: bridge.StatePending}); err != nil {
			continue
		}
		closed := bridge.Record{Interaction: i, State: bridge.StateExpired}
		closed.Response = &bridge.Response{State: bridge.StateExpired, Reason: strings.Repeat("<r&> ", 600)}
		closed.Completion = &bridge.Completion{Result: strings.Repeat("result ", 800), Error: strings.Repeat("error & ", 400)}
		m, err := build(closed)
		if err != nil || !strings.Contains(m.Text, "Expired") || render.Runes(m.Text) > 4096 {
			t.Fatalf("with %d characters in the first paragraph: %d characters, %v", n, render.Runes(m.Text), err)
		}
	}
}
