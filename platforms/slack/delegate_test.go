package slack_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestDelegateSelect checks what reaches the engine when a person delegates:
// the control of the person in a list, or the account that was picked among all
// people if a group may get the request.
func TestDelegateSelect(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	for name, c := range map[string]struct {
		to     []string
		value  func(bridge.View) string // what the person chooses
		option int
		picked string
	}{
		"one person":     {to: []string{"bo"}, option: 0},
		"several people": {[]string{"bo", "cy"}, func(v bridge.View) string { return v.Token(bridge.ActionHandOver, 0, 1) }, 1, ""},
		"a group": {[]string{"bo", "@sre"}, func(bridge.View) string { return "U0BO000002" },
			bridge.OptionAnyone, "U0BO000002"},
	} {
		s.sink.Reset()
		r := approval("make deploy")
		r.Interaction.Ask = bridge.Ask{
			Kind: bridge.KindAsk, Prompt: "Ship it?", Questions: []bridge.Question{{ID: "ok", Text: "Ship it?", Widget: bridge.WidgetConfirm,
				Options: []bridge.Option{{Value: "yes"}, {Value: "no"}}}},
		}
		r.Interaction.HandOver = c.to
		ref := s.posts(r, "")
		all := s.Controls(s.Place(ref))
		last := all[len(all)-1]
		a := sandbox.Action{
			Service: "slack", As: "ana", Do: "press", Channel: ref.Channel, Message: ref.Message, Control: last.ID,
		}
		if c.value != nil {
			if last.Kind != "select" {
				t.Fatalf("%s: the control is a %s", name, last.Kind)
			}
			a.Values = map[string][]string{blockWith(s, ref, last.ID): {c.value(s.view(r))}}
		}
		if reaction, err := s.Sandbox.Act(t.Context(), a); err != nil || reaction.Warning != "" {
			t.Fatalf("%s: %v %s", name, err, reaction.Warning)
		}
		s.Eventually("the click arrives", func() bool { return len(s.sink.Clicks()) > 0 })
		got := s.sink.Clicks()[0]
		control, err := s.Keys.Verify(got.Token)
		if err != nil || control.Action != bridge.ActionHandOver || control.Option != c.option || got.Picked != c.picked {
			t.Errorf("%s: %+v, picked %q, %v", name, control, got.Picked, err)
		}
		if len(got.Inputs) > 0 {
			t.Errorf("%s: inputs %v", name, got.Inputs)
		}
	}
}

// blockWith returns the ID of the block of an element of a message.
func blockWith(s *stage, ref bridge.MessageRef, action string) string {
	s.Helper()
	for _, b := range s.Sandbox.Message(s.Place(ref))["blocks"].([]any) {
		block := b.(map[string]any)
		elements, _ := block["elements"].([]any)
		for _, e := range elements {
			if e.(map[string]any)["action_id"] == action {
				return block["block_id"].(string)
			}
		}
	}
	s.Fatalf("no element %q", action)
	return ""
}
