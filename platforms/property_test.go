package platforms_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/slackmsg"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// nasty has runes that limits, escaping and counting may handle wrongly.
var nasty = []rune("aZ09 \n\t<>&@#*_~`|[]()\\-+.:!\"'{}é漢字👩‍👩‍👧‍👦🇩🇪\u202e\u200d@everyone")

func texts(least, most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(least, most).Draw(t, "length")
		if rapid.Bool().Draw(t, "repeat") { // a cheap way to get long texts
			unit := rapid.StringOfN(rapid.SampledFrom(nasty), 1, 20, -1).Draw(t, "unit")
			s := []rune(strings.Repeat(unit, n/len([]rune(unit))+1))
			return string(s[:n])
		}
		return rapid.StringOfN(rapid.SampledFrom(nasty), min(n, 200), min(n, 200), -1).Draw(t, "text")
	})
}

func requests() *rapid.Generator[bridge.Request] {
	return rapid.Custom(func(t *rapid.T) bridge.Request {
		r := bridge.Request{Ask: bridge.Ask{Prompt: "x" + texts(0, 9000).Draw(t, "prompt")}}
		if rapid.Bool().Draw(t, "approval") {
			input, err := json.Marshal(map[string]string{"command": texts(0, 9000).Draw(t, "command")})
			if err != nil {
				t.Fatal(err)
			}
			r.Session = "s"
			r.Approval = &bridge.Approval{Tool: texts(0, 40).Draw(t, "tool"), Input: input, Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}}
			return r
		}
		r.Declinable, r.Error = rapid.Bool().Draw(t, "declinable"), texts(0, 300).Draw(t, "error")
		for n := range rapid.IntRange(1, 8).Draw(t, "questions") {
			q := bridge.Question{
				ID: fmt.Sprintf("q%d", n), Widget: rapid.SampledFrom(everyWidget).Draw(t, "widget"), Text: "?" + texts(0, 400).Draw(t, "question"),
				Header: texts(0, 3).Draw(t, "header"), Placeholder: texts(0, 200).Draw(t, "placeholder"), Description: texts(0, 200).Draw(t, "hint"),
			}
			if typedOrComposite(t, &q); !q.FreeText() && !q.Composite() {
				q.AllowOther = rapid.Bool().Draw(t, "other")
				count := rapid.SampledFrom([]int{1, 2, 3, 10, 11, 25, 26, 101, 126, 300}).Draw(t, "options")
				if q.Widget == bridge.WidgetConfirm {
					count = 2
				}
				for k := range count {
					o := bridge.Option{Value: fmt.Sprintf("v%d", k)}
					if k < 30 {
						o.Label, o.Description = texts(0, 120).Draw(t, "label"), texts(0, 150).Draw(t, "description")
						if !q.Multiple() && rapid.IntRange(0, 9).Draw(t, "with preview") == 0 {
							o.Preview = texts(1, 3000).Draw(t, "preview")
						}
					}
					q.Options = append(q.Options, o)
				}
			}
			r.Questions = append(r.Questions, q)
		}
		return r
	})
}

var everyWidget = []bridge.Widget{
	bridge.WidgetButtons, bridge.WidgetConfirm, bridge.WidgetSelect, bridge.WidgetRadio, bridge.WidgetActionSelection, bridge.WidgetCheckbox,
	bridge.WidgetText, bridge.WidgetTextarea, bridge.WidgetNumber, bridge.WidgetDate, bridge.WidgetTime, bridge.WidgetDateTime, bridge.WidgetEmail, bridge.WidgetURL,
	bridge.WidgetPlanReview, bridge.WidgetFeedback, bridge.WidgetForm,
}

// typedOrComposite sets the fields that only such widgets have.
func typedOrComposite(t *rapid.T, q *bridge.Question) {
	switch q.Widget {
	case bridge.WidgetNumber:
		low, high := rapid.Float64Range(-1e6, 0).Draw(t, "min"), rapid.Float64Range(0, 1e6).Draw(t, "max")
		q.Min, q.Max, q.Integer = &low, &high, rapid.Bool().Draw(t, "integer")
	case bridge.WidgetPlanReview:
		q.Plan = "p" + texts(0, 6000).Draw(t, "plan")
	case bridge.WidgetFeedback:
		for n := range rapid.IntRange(1, 6).Draw(t, "items") {
			q.Items = append(q.Items, bridge.Item{ID: fmt.Sprint("item ", n), Content: "c" + texts(0, 600).Draw(t, "content")})
		}
	case bridge.WidgetForm:
		properties := map[string]any{}
		for n := range rapid.IntRange(1, 8).Draw(t, "properties") {
			properties[fmt.Sprint("p", n)] = rapid.SampledFrom([]map[string]any{
				{"type": "string", "title": texts(0, 100).Draw(t, "title"), "format": "date"}, {"type": "string", "description": texts(0, 200).Draw(t, "text"), "maxLength": 4000},
				{"type": "boolean", "default": true}, {"type": "integer", "minimum": 1}, {"type": "string", "enum": []string{"a", "b"}},
				{"type": "array", "items": map[string]any{"enum": []string{"a", "b", "c"}}, "minItems": 1, "maxItems": 2},
			}).Draw(t, "property")
		}
		raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
		if err != nil {
			t.Fatal(err)
		}
		q.Schema = raw
	}
}

// TestEverythingFitsOrIsRefused checks that each platform accepts any valid
// request within every limit: pending, in each final state, and with every form
// that its controls open. Otherwise, Check must refuse the request with a
// reason.
func TestEverythingFitsOrIsRefused(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	destinations, platforms := sandboxPlatforms(t, server.URL)
	key, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	shown, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		req := requests().Draw(rt, "request")
		if err := req.Normalize(); err != nil {
			if bridge.ErrorCode(err) != bridge.CodeInvalid {
				rt.Fatal(err)
			}
			return
		}
		i := interactionOf(rt, req, destinations)
		for n, p := range platforms {
			if err := p.Check(i); err != nil {
				if bridge.ErrorCode(err) != bridge.CodeUnsupported || bridge.PublicError(err).Message == "" {
					rt.Fatalf("%s refuses without a reason: %v", p.Name(), err)
				}
				refused++
				continue
			}
			shown++
			rec := bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}
			view := bridge.NewView(rec, n, nil, key.Sign)
			ref, err := p.Post(context.Background(), destinations[n], view, nil)
			if err != nil {
				rt.Fatalf("%s refuses the card: %v", p.Name(), err)
			}
			forms(rt, p.Name(), view)
			for _, v := range turns(rec, n, key.Sign) {
				if err := p.Update(context.Background(), ref, v, nil); err != nil {
					rt.Fatalf("%s refuses the card in between: %v", p.Name(), err)
				}
			}
			for _, final := range finals(rec) {
				if err := p.Update(context.Background(), ref, bridge.NewView(final, n, nil, key.Sign), nil); err != nil {
					rt.Fatalf("%s refuses the card when %s: %v", p.Name(), final.State, err)
				}
			}
		}
	})
	t.Logf("%d shown, %d refused with a reason", shown, refused)
}

func sandboxPlatforms(t *testing.T, base string) ([]bridge.Destination, []bridge.Platform) {
	t.Helper()
	sl, err1 := slack.New(slack.Options{Name: "slack", BotToken: sandbox.SlackBotToken, AppToken: sandbox.SlackAppToken, APIURL: base + "/slack/api/", NoPacing: true})
	di, err2 := discord.New(discord.Options{Name: "discord", BotToken: sandbox.DiscordToken, APIURL: base + "/discord", NoPacing: true})
	te, err3 := telegram.New(telegram.Options{Name: "telegram", Token: sandbox.TelegramToken, APIURL: base + "/telegram", NoPacing: true})
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return []bridge.Destination{
		{Platform: "slack", Channel: sandbox.SlackChannel}, {Platform: "discord", Channel: sandbox.DiscordChannel},
		{Platform: "telegram", Channel: fmt.Sprint(sandbox.TelegramChat)},
	}, []bridge.Platform{sl, di, te}
}

func interactionOf(t *rapid.T, r bridge.Request, d []bridge.Destination) bridge.Interaction {
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	return bridge.Interaction{
		ID: id,
		Ask: bridge.Ask{
			Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions, Approval: r.Approval, Session: r.Session,
			Declinable: r.Declinable, Error: r.Error,
		},
		Agent:     "agent",
		Lineage:   bridge.Lineage{Round: 2},
		Placement: bridge.Placement{Destinations: d},
		Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
		Digest:    strings.Repeat("0", 64),
	}
}

// forms builds every native form of a view and passes it to the emulator's
// checks.
func forms(t *rapid.T, platform string, v bridge.View) {
	i := v.Record.Interaction
	controls := []bridge.Control{{Option: bridge.OptionForm}}
	if i.Kind == bridge.KindApproval {
		v, controls = decidable(v)
	}
	for n, q := range i.Fields() {
		if q.AllowOther {
			controls = append(controls, bridge.Control{Question: n, Option: bridge.OptionOther})
		}
	}
	if platform == "discord" && i.Kind == bridge.KindAsk {
		for n := range discordmsg.Pages(i) {
			controls = append(controls, bridge.Control{Option: bridge.OptionPage + n})
		}
	}
	for _, c := range controls {
		f := bridge.Form{View: v, Control: c}
		switch {
		case platform == "telegram" && i.Kind == bridge.KindApproval:
			if m := telegrammsg.Menu(f); render.Opens(f) && (m.Text == "" || render.Runes(m.Text) > 4096) {
				t.Fatalf("telegram refuses a menu of %d characters", render.Runes(m.Text))
			}
		case platform == "slack" && c.Action == bridge.ActionMore:
		case platform == "discord" && render.Opens(f):
			checkMenu(t, f)
		case platform == "slack":
			m, err := slackmsg.Modal(f, strings.Repeat("m", 300))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if bad := sandbox.CheckSlackModal(raw); len(bad) > 0 {
				t.Fatalf("slack refuses the modal: %v", bad)
			}
		case platform == "discord":
			m, err := discordmsg.BuildModal(f, strings.Repeat("t", bridge.TokenLength))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if bad := sandbox.CheckDiscordModal(raw); bad != "" {
				t.Fatalf("discord refuses the modal: %s", bad)
			}
		}
	}
}

// decidable returns the view of an approval that offers every decision, with the
// controls that open something.
func decidable(v bridge.View) (bridge.View, []bridge.Control) {
	i := &v.Record.Interaction
	a := *i.Approval
	a.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideDenyStop,
		bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways}
	i.Approval = &a
	i.Grantable(bridge.Ruling{}, *i, i.Digest)
	controls := []bridge.Control{{Action: bridge.ActionMore}}
	for n := range i.Decisions() {
		if action, question, option := i.DecisionControl(n); action == bridge.ActionInput {
			controls = append(controls, bridge.Control{Action: action, Question: question, Option: option})
		}
	}
	return v, controls
}

// checkMenu passes a private menu to the checks of the emulated Discord.
func checkMenu(t *rapid.T, f bridge.Form) {
	m, err := discordmsg.Menu(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"flags": 32768, "components": m.Components})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if bad := sandbox.CheckDiscordMessage(got); bad != "" {
		t.Fatalf("discord refuses the menu: %s", bad)
	}
}

// turns returns the views between posting and resolution: steps of a shared
// draft with long values, a deferred request, and a card without controls.
func turns(r bridge.Record, destination int, sign func(bridge.Control) string) []bridge.View {
	d := bridge.Draft{Actor: bridge.Actor{Name: strings.Repeat("n*", 60)}, Answers: map[string]bridge.Answer{}, Others: map[string]string{}}
	fields := r.Interaction.Fields()
	for _, f := range fields {
		switch {
		case f.FreeText():
			d.Answers[f.ID] = bridge.TextAnswer(strings.Repeat("漢<*", 1000))
		case f.AllowOther:
			d.Others[f.ID] = strings.Repeat("other & ", 300)
		}
	}
	var out []bridge.View
	for step := range len(fields) + 1 {
		at := d
		at.Step = step
		out = append(out, bridge.NewView(r, destination, &at, sign))
	}
	r.Queued, r.Revision = time.Now(), 2
	return append(out, bridge.NewView(r, destination, nil, sign).Unfinished())
}

// finals returns the final states that the request can have.
func finals(r bridge.Record) []bridge.Record {
	states := []bridge.State{bridge.StateExpired, bridge.StateCancelled, bridge.StateUndeliverable, bridge.StateSuperseded}
	if r.Interaction.Kind == bridge.KindApproval {
		states = append(states, bridge.StateApproved, bridge.StateDenied)
	} else {
		states = append(states, bridge.StateAnswered)
	}
	var out []bridge.Record
	for n, s := range states {
		f := r
		f.State, f.Revision = s, int64(n+2)
		f.Response = &bridge.Response{State: s, Scope: bridge.ScopeOnce, Reason: strings.Repeat("<r&> ", 600), At: time.Now(), Answers: map[string]bridge.Answer{}, Actor: &bridge.Actor{Platform: "slack", User: "U", Name: strings.Repeat("n*", 40)}}
		for _, q := range r.Interaction.Questions {
			if q.Composite() {
				parts := map[string]string{}
				for _, field := range r.Interaction.Fields() {
					parts[field.Part] = strings.Repeat("漢<*", 1000)
				}
				raw, _ := json.Marshal(parts) // strings always marshal
				f.Response.Answers[q.ID] = bridge.JSONAnswer(string(raw))
			} else if q.FreeText() {
				f.Response.Answers[q.ID] = bridge.TextAnswer(strings.Repeat("漢<*", 1000))
			} else if q.Multiple() {
				var all []string
				for _, o := range q.Options {
					all = append(all, o.Value)
				}
				f.Response.Answers[q.ID] = bridge.ListAnswer(all...)
			}
		}
		f.Completion = &bridge.Completion{Result: strings.Repeat("result <*` ", 800), Error: strings.Repeat("error & ", 400)}
		out = append(out, f)
	}
	return out
}
