package discordmsg_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/discordmsg"
)

// TestRoom checks which controls a card has for one question with more and more
// options: a button for each, a select, the ranges of a form, or the form. A button
// for another text and the row of Decline take their room from the 25 buttons.
func TestRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		widget       bridge.Widget
		options      int
		other, leave bool
		want         string
	}{
		{bridge.WidgetButtons, 25, false, false, "25 buttons in 5 rows"},
		{bridge.WidgetButtons, 24, true, false, "25 buttons in 5 rows"},
		{bridge.WidgetButtons, 20, false, true, "21 buttons in 5 rows"},
		{bridge.WidgetButtons, 19, true, true, "21 buttons in 5 rows"},
		{bridge.WidgetButtons, 25, true, false, "1 buttons in 1 rows"},
		{bridge.WidgetButtons, 21, false, true, "2 buttons in 2 rows"},
		{bridge.WidgetButtons, 20, true, true, "2 buttons in 2 rows"},
		{bridge.WidgetSelect, 25, false, false, "a select of 25"},
		{bridge.WidgetSelect, 26, false, false, "1 buttons in 1 rows"},
		{bridge.WidgetSelect, 126, false, false, "2 buttons in 1 rows"},
	} {
		q := bridge.Question{ID: "q", Text: "Which?", Widget: c.widget, AllowOther: c.other}
		for n := range c.options {
			q.Options = append(q.Options, bridge.Option{Value: fmt.Sprint("o", n)})
		}
		i := bridge.Interaction{ID: "i", Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: "Which?", Declinable: c.leave, Questions: []bridge.Question{q}}}
		m, err := discordmsg.Build(bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
			return strings.Repeat("0", bridge.TokenLength)
		}))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		got := fmt.Sprintf("%d buttons in %d rows", strings.Count(text, `"type":2,`)+strings.Count(text, `"type":2}`), strings.Count(text, `"type":1,`)+strings.Count(text, `"type":1}`))
		if strings.Contains(text, `"type":3`) {
			got = fmt.Sprintf("a select of %d", strings.Count(text, `"value":`))
		}
		if got != c.want {
			t.Errorf("%s with %d options, other %t, decline %t: %s, want %s", c.widget, c.options, c.other, c.leave, got, c.want)
		}
	}
}
