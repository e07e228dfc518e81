package telegrammsg_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// TestCards compares what people see in Telegram of every intent in every state
// with the golden file, and checks that Telegram accepts it: messages, menus, and
// prompts.
func TestCards(t *testing.T) {
	t.Parallel()
	b := rendertest.NewBook(t, rendertest.Telegram)
	accepted := func(name string, m telegrammsg.Message, markup map[string]any) {
		raw, err := json.Marshal(map[string]any{"text": m.Text, "entities": m.Entities, "reply_markup": markup})
		if err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckTelegramMessage(raw); bad != "" {
			t.Errorf("telegram refuses %s: %s", name, bad)
		}
	}
	message := func(name string, m telegrammsg.Message, err error) {
		b.Add(name, m, err)
		accepted(name, m, map[string]any{"inline_keyboard": m.Keyboard})
	}
	for _, s := range rendertest.Samples() {
		m, err := telegrammsg.Build(s.View)
		message(s.Name, m, err)
	}
	for _, f := range rendertest.Forms() {
		if render.Opens(f.Form) {
			message("form-"+f.Name, telegrammsg.Menu(f.Form), nil)
			continue
		}
		p := telegrammsg.NewPrompt(f.Form, 7001, "Ana")
		b.Add("form-"+f.Name, p, nil)
		accepted("form-"+f.Name, p.Message, map[string]any{"force_reply": true, "input_field_placeholder": p.Placeholder})
	}
	for _, name := range []string{"several", "form"} {
		v := sample(t, name)
		for n := range len(v.Record.Interaction.Fields()) + 1 {
			message(fmt.Sprint(name, "-step-", n+1), build(t, atStep(v, n)), nil)
		}
	}
	message("notification", telegrammsg.Preview(sample(t, "approval-votes")), nil)
	for n := range 3 {
		message(fmt.Sprint("page-", n+1), build(t, cities(t, n)), nil)
	}
	message("list", telegrammsg.Reply("2 requests:\n1. Use *bash* (5m left) https://t.me/c/1/2\n2. <Where>? (4m left)"), nil)
	message("whisper", telegrammsg.Whisper("not yours"), nil)
	message("offer", telegrammsg.Offer("Sign it.", "https://nod.example/sign"), nil)
	message("reminder", telegrammsg.Reminder(bridge.Reminder{Users: []string{"7001", "7002"}, Names: []string{"Ana *Lima*"}, Text: "1 minute left"}), nil)
	message("reminder-for-no-one", telegrammsg.Reminder(bridge.Reminder{Text: "1 minute left"}), nil)
	collapsed := build(t, closedLong(t, 40))
	message("collapsed", collapsed, nil)
	message("collapsed-short", collapsed.Without(telegrammsg.LongQuotes), nil)
}

// TestAnyMarkdown checks that Telegram accepts cards with any texts.
func TestAnyMarkdown(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	for range level.Often(3000, 400) {
		s := rendertest.Hostile(r)
		m, err := telegrammsg.Build(s.View)
		if err != nil {
			t.Fatalf("%v; %s", err, s.Texts())
		}
		raw, err := json.Marshal(map[string]any{"text": m.Text, "entities": m.Entities, "reply_markup": map[string]any{"inline_keyboard": m.Keyboard}})
		if err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckTelegramMessage(raw); bad != "" {
			t.Fatalf("telegram refuses %s: %s\n%s", raw, bad, s.Texts())
		}
	}
}
