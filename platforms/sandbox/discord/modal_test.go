package discord_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

func labelled(label string, c map[string]any) map[string]any {
	return map[string]any{"type": 18, "label": label, "component": c}
}

func choices(kind int, id string, rest map[string]any) map[string]any {
	c := map[string]any{"type": kind, "custom_id": id, "options": []any{
		map[string]any{"label": "Option x", "value": "x"}, map[string]any{"label": "Option y", "value": "y", "default": true},
	}}
	for k, v := range rest {
		c[k] = v
	}
	return c
}

// form is a modal with an input of each kind.
func form() map[string]any {
	note := map[string]any{"type": 4, "custom_id": "note", "style": 1, "min_length": 3, "max_length": 5}
	return map[string]any{"custom_id": "form", "title": "Form", "components": []any{
		labelled("Note", note), labelled("One", choices(3, "one", nil)),
		labelled("Radio", choices(21, "radio", map[string]any{"required": false})),
		labelled("Many", choices(22, "many", nil)), map[string]any{"type": 10, "content": "text"},
	}}
}

// showForm answers clicks with the form, and returns where submissions arrive.
func (d *bench) showForm() chan json.RawMessage {
	d.T.Helper()
	got := make(chan json.RawMessage, 9)
	d.bot.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		if e.Type == "INTERACTION_CREATE" && strings.Contains(string(e.RawData), `"type":5`) {
			got <- e.RawData
		}
	})
	d.connect(discordgo.IntentsNone, func(s *discordgo.Session, i *discordgo.Interaction) {
		if i.Type == discordgo.InteractionModalSubmit {
			respond(d.T, s, i, update, &discordgo.InteractionResponseData{Content: "submitted"})
			return
		}
		answer := discordgo.EndpointInteractionResponse(i.ID, i.Token) + "?with_response=true"
		if _, err := s.Request("POST", answer, map[string]any{"type": 9, "data": form()}); err != nil {
			d.T.Error(err)
		}
	})
	return got
}

// TestModal checks that a click opens a modal, what the client does not let a
// member send, and what the app gets.
func TestModal(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, discord.Options{}, false), t.Context()
	card := d.post(&discordgo.MessageSend{Content: "card", Components: inRow(button("open", "Open"))})
	got := d.showForm()
	closed, err := core.Press(ctx, d.e, "ana", card, "Open")
	if err != nil || !d.Act(core.Action{As: "ana", Do: "close", View: closed.Modal}).OK {
		t.Fatalf("opened and closed: %+v %v", closed, err)
	}
	r, err := core.Press(ctx, d.e, "ana", card, "Open")
	if err != nil || r.Modal == "" {
		t.Fatalf("opened: %+v %v", r, err)
	}
	for word, fields := range map[string][][]string{
		"is required": {nil}, "is longer": {{"123456"}}, "is shorter": {{"1"}}, "choose 1 to 1": {{"1234"}, {}},
		"has 4 inputs": {nil, nil, nil, nil, nil}, "no option": {{"1234"}, {"z"}},
	} {
		if _, err := core.Fill(ctx, d.e, "ana", r.Modal, fields); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
	if _, err := core.Fill(ctx, d.e, "bo", r.Modal, nil); err == nil {
		t.Error("a member fills in another's modal")
	}
	values := [][]string{{"1234"}, nil, {"Option x"}, {"Option x", "Option y"}}
	if r, err := core.Fill(ctx, d.e, "ana", r.Modal, values); err != nil || !r.OK {
		t.Fatalf("submitted: %+v %v", r, err)
	}
	var in struct {
		Data struct {
			Components []struct{ Component map[string]any }
		}
	}
	if err := json.Unmarshal(<-got, &in); err != nil {
		t.Fatal(err)
	}
	c := in.Data.Components
	if c[0].Component["value"] != "1234" || c[1].Component["values"].([]any)[0] != "y" ||
		c[2].Component["value"] != "x" || len(c[3].Component["values"].([]any)) != 2 {
		t.Errorf("the app got %v", c)
	}
	if said := d.e.Sees("bo", card); !strings.Contains(said, "submitted") || len(d.state().Modals) != 0 {
		t.Errorf("shows %q", said)
	}
}

// TestModalChecks checks what Discord refuses in a modal.
func TestModalChecks(t *testing.T) {
	t.Parallel()
	text := map[string]any{"type": 4, "custom_id": "a", "style": 1}
	with := func(c map[string]any, k string, v any) map[string]any {
		out := map[string]any{k: v}
		for n, x := range c {
			if n != k {
				out[n] = x
			}
		}
		return out
	}
	old := func(c map[string]any) map[string]any {
		return map[string]any{"type": 1, "components": []any{c}}
	}
	for _, x := range []struct {
		component any
		word      string
	}{
		{labelled("x", text), ""},
		{old(with(text, "label", "x")), ""},
		{old(text), "label"},
		{map[string]any{"type": 10, "content": "x"}, ""},
		{map[string]any{"type": 10, "content": ""}, "content"},
		{map[string]any{"type": 2}, "UNION_TYPE_CHOICES"},
		{labelled(strings.Repeat("x", 46), text), "label"},
		{labelled("x", with(text, "label", "y")), "label"},
		{labelled("x", with(text, "style", 3)), "style"},
		{labelled("x", with(text, "max_length", 4001)), "max_length"},
		{labelled("x", with(text, "value", strings.Repeat("x", 4001))), "value"},
		{labelled("x", with(text, "placeholder", strings.Repeat("x", 101))), "placeholder"},
		{labelled("x", with(text, "type", 9)), "UNION_TYPE_CHOICES"},
		{labelled("x", choices(23, "a", nil)), "UNION_TYPE_CHOICES"},
		{labelled("x", choices(3, "a", map[string]any{"disabled": true})), "COMPONENT_DISABLED"},
		{labelled("x", choices(3, "a", map[string]any{"min_values": 0})), "min_values"},
		{labelled("x", choices(3, "a", map[string]any{"min_values": 0, "required": false})), ""},
		{labelled("x", choices(21, "a", map[string]any{"options": []any{}})), "options"},
		{labelled("x", choices(22, "a", map[string]any{"min_values": 11})), "min_values"},
		{labelled("x", choices(22, "a", nil)), ""},
	} {
		encoded, err := json.Marshal(map[string]any{"title": "x", "custom_id": "x", "components": []any{x.component}})
		if err != nil {
			t.Fatal(err)
		}
		if got := discord.CheckModal(encoded); (x.word == "") != (got == "") || !strings.Contains(got, x.word) {
			t.Errorf("%s: %s, want %q", encoded, got, x.word)
		}
	}
	if discord.CheckModal([]byte("{")) == "" || discord.CheckModal([]byte("{}")) == "" {
		t.Error("an empty modal is taken")
	}
}
