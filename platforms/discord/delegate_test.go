package discord_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestDelegateSelect checks what reaches the engine when a person delegates:
// the control of the person in a list, or the account that was picked among all
// members if a group may get the request.
func TestDelegateSelect(t *testing.T) {
	t.Parallel()
	keys, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	d := running(t, nil)
	const bo = "300000000000000002"
	var many []string // of several routes
	for n := range 26 {
		many = append(many, fmt.Sprint("person", n))
	}
	for name, c := range map[string]struct {
		to     []string
		value  func(bridge.View) string // what the person chooses
		option int
		picked string
	}{
		"one person":     {to: []string{"bo"}},
		"several people": {[]string{"bo", "cy"}, func(v bridge.View) string { return v.Token(bridge.ActionHandOver, 0, 1) }, 1, ""},
		"many people":    {many, func(bridge.View) string { return bo }, bridge.OptionAnyone, bo},
		"a group":        {[]string{"bo", "@sre"}, func(bridge.View) string { return bo }, bridge.OptionAnyone, bo},
	} {
		d.sink.Reset()
		r := round(0, "make deploy", bridge.StatePending).Record
		r.Interaction.Ask = bridge.Ask{
			Kind: bridge.KindAsk, Prompt: "Ship it?", Questions: []bridge.Question{{ID: "ok", Text: "Ship it?", Widget: bridge.WidgetConfirm,
				Options: []bridge.Option{{Value: "yes"}, {Value: "no"}}}},
		}
		r.Interaction.HandOver = c.to
		v := bridge.NewView(r, 0, nil, keys.Sign)
		ref, err := d.post(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := d.Controls(d.Place(ref))
		last := all[len(all)-1]
		a := sandbox.Action{Service: "discord", As: "ana", Do: "press", Channel: ref.Channel, Message: ref.Message, Control: last.ID}
		if c.value != nil {
			if last.Kind != "select" {
				t.Fatalf("%s: the control is a %s", name, last.Kind)
			}
			a.Do, a.Values = "choose", map[string][]string{last.ID: {c.value(v)}}
		}
		if reaction, err := d.Sandbox.Act(t.Context(), a); err != nil || reaction.Warning != "" {
			t.Fatalf("%s: %v %s", name, err, reaction.Warning)
		}
		got := d.sink.Clicks()
		if len(got) != 1 {
			t.Fatalf("%s: %d clicks", name, len(got))
		}
		control, err := keys.Verify(got[0].Token)
		if err != nil || control.Action != bridge.ActionHandOver || control.Option != c.option || got[0].Picked != c.picked {
			t.Errorf("%s: %+v, picked %q, %v", name, control, got[0].Picked, err)
		}
	}
}
