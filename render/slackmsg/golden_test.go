package slackmsg_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

// TestCards compares what people see in Slack of every intent in every state with
// the golden file, and checks that Slack accepts it: messages, modals, and a Home
// tab.
func TestCards(t *testing.T) {
	t.Parallel()
	b := rendertest.NewBook(t, rendertest.Slack)
	accepted := func(name string, bad []string) {
		if len(bad) > 0 {
			t.Errorf("slack refuses %s: %v", name, bad)
		}
	}
	modal := func(name string, f bridge.Form) {
		m, err := slackmsg.Modal(f, "metadata")
		accepted(name, sandbox.CheckSlackModal(b.Add(name, m, err)))
	}
	samples := rendertest.Samples()
	for _, s := range samples {
		m, err := slackmsg.Build(s.View)
		b.Add(s.Name, m, err)
		raw, err := json.Marshal(map[string]any{"text": m.Text, "blocks": m.Blocks})
		if err != nil {
			t.Fatal(err)
		}
		accepted(s.Name, sandbox.CheckSlackMessage(raw))
	}
	for _, f := range rendertest.Forms() {
		if f.Control.Action != bridge.ActionMore { // Slack has a menu on the card
			modal("form-"+f.Name, f.Form)
		}
	}
	for _, s := range samples {
		if !s.View.Record.State.Final() && s.View.Record.Interaction.Kind == bridge.KindAsk {
			modal("modal-"+s.Name, bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionForm}})
		}
	}
	find := func(name string) bridge.View {
		return samples[slices.IndexFunc(samples, func(s rendertest.Sample) bool { return s.Name == name })].View
	}
	script, private := find("approval-long"), find("private")
	once := slices.Index(script.Record.Interaction.Decisions(), bridge.DecideOnce)
	modal("form-read", bridge.Form{View: script, Control: bridge.Control{Action: bridge.ActionInput, Question: once, Option: bridge.OptionDecide}})
	private.Revealed = true
	modal("form-review", bridge.Form{View: private, Control: render.ReviewControl(private.Record.Interaction)})
	page := slackmsg.Page{At: time.Unix(1795356000, 0), Team: "https://acme.slack.com/", Note: "Revoked."}
	page.Grants = []bridge.Grant{{
		Agent: "ci", Key: "exact:1", Covers: "command `ls`", At: page.At, Expires: time.Unix(1795442400, 0), Givers: []bridge.Actor{{Person: "ana"}},
	}}
	page.Decided = []bridge.Record{find("approval-denied").Record}
	for _, name := range []string{"approval-long", "buttons", "approval"} {
		page.Waiting = append(page.Waiting, bridge.Waiting{View: find(name), Card: bridge.MessageRef{Channel: "C1", Message: "1.2"}})
	}
	accepted("home", sandbox.CheckSlackHome(b.Add("home", slackmsg.Home(page), nil)))
}

// TestAnyMarkdown checks that Slack accepts cards with any texts.
func TestAnyMarkdown(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	for range level.Often(3000, 400) {
		s := rendertest.Hostile(r)
		m, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatalf("%v; %s", err, s.Texts())
		}
		raw, err := json.Marshal(map[string]any{"text": m.Text, "blocks": m.Blocks})
		if err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckSlackMessage(raw); len(bad) > 0 {
			t.Fatalf("slack refuses %s: %v\n%s", raw, bad, s.Texts())
		}
		if i := s.View.Record.Interaction; s.View.Record.State.Final() || i.Kind != bridge.KindAsk {
			continue
		}
		form, err := slackmsg.Modal(bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionForm}}, "metadata")
		if err != nil {
			t.Fatalf("%v; %s", err, s.Texts())
		}
		if raw, err = json.Marshal(form); err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckSlackModal(raw); len(bad) > 0 {
			t.Fatalf("slack refuses %s: %v\n%s", raw, bad, s.Texts())
		}
	}
}
