package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestDescriptionOnce checks that a description that the card quotes word for
// word is not in the input below it again.
func TestDescriptionOnce(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]int{
		"Claude Code wants to use **Bash**\n\nPush the fix":        1,
		"Claude Code wants to use **Bash**\n\nPush the fix, maybe": 2, // the agent says something else
		"Claude Code wants to use **Bash**\n\nPush **the** fix":    1, // the quote has markup
	} {
		var i bridge.Interaction
		i.Kind, i.Agent, i.Prompt = bridge.KindApproval, "claude", prompt
		i.Approval = &bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"command":"git push","description":"Push the fix"}`)}
		v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string { return "" })
		text := render.PlainText(render.NewCard(v, func(bridge.Question) bool { return false }).Body)
		if got := strings.Count(text, "Push the fix"); got != want {
			t.Errorf("%q: %d times in\n%s", prompt, got, text)
		}
	}
}
