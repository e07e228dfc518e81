package engine_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestTwoClicksOnDraft checks that two clicks of one person at the same time both
// change the draft.
func TestTwoClicksOnDraft(t *testing.T) {
	t.Parallel()
	drafts, ana := engine.NewDrafts(stored.InMemory(t, nil, nil).Documents()), bridge.Actor{Platform: "chat", User: "U1"}
	answer := func(field string, meanwhile func()) {
		t.Helper()
		_, err := drafts.ChangeDraft(t.Context(), "x", 0, ana, func(mine *bridge.Draft) (bridge.Draft, bool) {
			d := bridge.Draft{Actor: ana, Answers: map[string]bridge.Answer{field: bridge.TextAnswer("yes")}}
			if mine != nil {
				for k, v := range mine.Answers {
					d.Answers[k] = v
				}
			}
			if meanwhile != nil {
				meanwhile()
				meanwhile = nil
			}
			return d, true
		})
		if err != nil {
			t.Error(err)
		}
	}
	answer("a", func() { answer("b", nil) })
	mine, shown, err := drafts.Draft(t.Context(), "x", 0, ana)
	if err != nil || mine == nil || len(mine.Answers) != 2 || mine.Change != 2 || !mine.Same(shown) {
		t.Errorf("the draft is %+v, the card shows %+v, %v", mine, shown, err)
	}
}
