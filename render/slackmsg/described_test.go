package slackmsg_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

// menuOf returns the view of a question with a menu of n options, whose
// descriptions have a length.
func menuOf(n, length int) bridge.View {
	q := bridge.Question{ID: "q", Text: "Where?", Widget: bridge.WidgetSelect}
	for k := range n {
		d := fmt.Sprintf("about %d %s", k, strings.Repeat("d", length))
		q.Options = append(q.Options, bridge.Option{Value: fmt.Sprint(k), Label: fmt.Sprint("place ", k), Description: d})
	}
	i := bridge.Interaction{
		ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f00", Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: "Where?", Questions: []bridge.Question{q}},
		Agent: "tester", Schedule: bridge.Schedule{Created: time.Now(), Deadline: time.Now().Add(time.Hour)},
	}
	sign := func(c bridge.Control) string { return fmt.Sprint(c.Action, c.Question, c.Option) }
	return bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, sign)
}

// TestMenuDescriptions checks that the options of a menu have their descriptions
// both in the menu, cut to what Slack takes, and on a card with room for them.
func TestMenuDescriptions(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ n, length int }{{3, 10}, {3, 100}, {25, 60}} {
		m, err := slackmsg.Build(menuOf(x.n, x.length))
		if err != nil {
			t.Fatalf("%+v: %v", x, err)
		}
		raw, err := json.Marshal(m.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.Count(string(raw), ": about 1 "+strings.Repeat("d", x.length)+`"`)
		inMenu := strings.Count(string(raw), `"description":{"type":"plain_text","text":"about `)
		if whole != 1 || inMenu != x.n {
			t.Errorf("%+v: %d times on the card, %d in the menu", x, whole, inMenu)
		}
	}
}

// TestMostChoices checks that a menu limits the number of chosen options only if the
// question does, because Slack refuses a limit of zero.
func TestMostChoices(t *testing.T) {
	t.Parallel()
	for most, want := range []bool{false, true} {
		v := menuOf(25, 10)
		q := &v.Record.Interaction.Questions[0]
		q.Widget, q.MaxChoices = bridge.WidgetCheckbox, most
		m, err := slackmsg.Modal(bridge.Form{View: v, Control: bridge.Control{Option: bridge.OptionForm}}, "metadata")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(raw), `"max_selected_items":1`); got != want || strings.Contains(string(raw), `"max_selected_items":0`) {
			t.Errorf("with at most %d choices, the menu is %s", most, raw)
		}
	}
}
