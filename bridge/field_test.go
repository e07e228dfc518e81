package bridge_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestPartsFitTogether checks how the parts of an answer depend on each other.
func TestPartsFitTogether(t *testing.T) {
	t.Parallel()
	no := false
	plan := bridge.Question{ID: "q", Widget: bridge.WidgetPlanReview, Plan: "x"}
	optional := plan
	optional.Required = &no
	feedback := bridge.Question{ID: "q", Widget: bridge.WidgetFeedback, Items: []bridge.Item{{ID: "a", Content: "x"}, {ID: "b", Content: "y"}}}
	silent := feedback
	silent.Required = &no
	list := bridge.Question{ID: "q", Widget: bridge.WidgetCheckbox, MinChoices: 2, MaxChoices: 2, Options: []bridge.Option{{Value: "a"}, {Value: "b"}, {Value: "c"}}}
	for _, c := range []struct {
		question bridge.Question
		given    map[string]bridge.Answer // by field ID
		want     string                   // the answer or the problem
	}{
		{plan, map[string]bridge.Answer{"q/decision": bridge.TextAnswer("approve")}, `{"decision":"approve"}`},
		{plan, map[string]bridge.Answer{"q/decision": bridge.TextAnswer("request_changes")}, "Describe what should change."},
		{plan, map[string]bridge.Answer{"q/feedback": bridge.TextAnswer("more")}, `{"decision":"request_changes","feedback":"more"}`},
		{plan, map[string]bridge.Answer{"q/decision": bridge.TextAnswer("approve"), "q/feedback": bridge.TextAnswer("more")}, "Approve does not accept feedback"},
		{plan, nil, "Choose one first."},
		{plan, map[string]bridge.Answer{"q/decision": bridge.TextAnswer("maybe")}, "not one of the options"},
		{optional, nil, ``},
		{feedback, nil, "Enter at least one comment."},
		{feedback, map[string]bridge.Answer{"q/b": bridge.TextAnswer("fine")}, `{"a":"","b":"fine"}`},
		{silent, nil, `{"a":"","b":""}`},
		{list, map[string]bridge.Answer{"q": bridge.ListAnswer("a")}, "Choose at least 2."},
		{list, map[string]bridge.Answer{"q": bridge.ListAnswer("a", "b", "c")}, "Choose at most 2."},
		{list, map[string]bridge.Answer{"q": bridge.ListAnswer("c", "a", "a")}, `a,c`},
	} {
		r := bridge.Request{Ask: bridge.Ask{Prompt: "?", Questions: []bridge.Question{c.question}}}
		if err := r.Normalize(); err != nil {
			t.Fatal(err)
		}
		resp, problems := bridge.Interaction{Ask: bridge.Ask{
			Questions: r.Questions,
		}}.Respond(&bridge.Draft{Answers: c.given})
		got := resp.Answers["q"].String()
		for _, p := range problems {
			got = p
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.question.Widget, c.given, got, c.want)
		}
	}
}
