package dialect_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// TestJoined checks for any labels that the text of a choice says what was
// chosen: it is split into the same labels again, and no other choice has it.
func TestJoined(t *testing.T) {
	t.Parallel()
	label := rapid.StringMatching(`[ab, \["\]]{1,5}`)
	rapid.Check(t, func(t *rapid.T) {
		q := bridge.Question{ID: "q", Widget: bridge.WidgetCheckbox, AllowOther: rapid.Bool().Draw(t, "other")}
		labels := rapid.SliceOfNDistinct(label, 1, 5, rapid.ID[string]).Draw(t, "labels")
		for _, l := range labels {
			q.Options = append(q.Options, bridge.Option{Value: l})
		}
		sep := rapid.SampledFrom([]string{",", ", "}).Draw(t, "separator")
		texts := map[string][]string{}
		for n := range 1 << len(labels) {
			var chosen []string
			for k, l := range labels {
				if n>>k&1 == 1 {
					chosen = append(chosen, l)
				}
			}
			if q.AllowOther && rapid.Bool().Draw(t, "typed") {
				if text := label.Draw(t, "text"); !slices.Contains(labels, text) {
					chosen = append(chosen, text)
				}
			}
			text := dialect.Joined(q, chosen, sep)
			if was, known := texts[text]; known && !slices.Equal(was, chosen) {
				t.Errorf("%q stands for %q and %q", text, was, chosen)
			}
			texts[text] = chosen
			if again, err := dialect.Apart(q, text, sep); err != nil || !slices.Equal(again, chosen) {
				t.Errorf("%q of %q is %q, %v", text, chosen, again, err)
			}
		}
	})
}
