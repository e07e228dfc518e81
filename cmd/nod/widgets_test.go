package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestWidgets answers every widget that is typed, reviewed or filled in, on
// every platform, through its real SDK.
func TestWidgets(t *testing.T) {
	t.Parallel()
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(service)})
			for _, c := range typedCases {
				t.Run(string(c.question.Widget), func(t *testing.T) {
					sub := *r
					sub.t = t
					typedWidget(&sub, service, c)
				})
			}
			for _, c := range []struct {
				name string
				test func(r *rig, service string)
			}{
				{"a plan is approved by one tap", planApproved}, {"changes of a plan need words", planChanges},
				{"feedback is a text per item", feedback}, {"an action is selected", actionSelection},
				{"previews are shown and come back", previews}, {"a question may be declined", declined},
			} {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.t = t
					c.test(&sub, service)
				})
			}
		})
	}
}

type typedCase struct {
	question  bridge.Question
	bad, good string
	want      bridge.Answer
	problem   string // what the person reads about the bad one
}

var typedCases = []typedCase{
	{bridge.Question{Widget: bridge.WidgetNumber, Min: pointer(1.0), Max: pointer(9.0), Integer: true}, "12", "7", bridge.JSONAnswer("7"), "at most 9"},
	{bridge.Question{Widget: bridge.WidgetDate}, "2026-02-30", "2026-02-28", bridge.TextAnswer("2026-02-28"), "a date like"},
	{bridge.Question{Widget: bridge.WidgetTime}, "25:00", "09:30", bridge.TextAnswer("09:30"), "a time like"},
	{bridge.Question{Widget: bridge.WidgetDateTime}, "tomorrow", "2026-11-21T14:30:00+01:00", bridge.TextAnswer("2026-11-21T14:30:00+01:00"), "date, time and offset"},
	{bridge.Question{Widget: bridge.WidgetEmail}, "ana@nowhere", "ana@example.com", bridge.TextAnswer("ana@example.com"), "an e-mail address like"},
	{bridge.Question{Widget: bridge.WidgetURL}, "x://", "https://example.com/a?b=1", bridge.TextAnswer("https://example.com/a?b=1"), "a whole address like"},
}

func pointer[T any](v T) *T { return &v }

// typedWidget is refused once, and then answered.
func typedWidget(r *rig, s string, c typedCase) {
	c.question.ID = "q"
	a := r.ask(bridge.Request{Ask: bridge.Ask{Prompt: "When, what, where?", Questions: []bridge.Question{c.question}}})
	opened := r.press("ana", a.on(s), "Answer")
	p := r.sandbox.Person("ana")
	if s == "telegram" {
		answerPrompt(r, a, c.bad)
		r.eventually("the reply is refused", func() bool { return strings.Contains(chat(r, a.on(s).Channel), c.problem) })
		answerPrompt(r, a, c.good)
		wantAnswer(a, c.want)
		return
	}
	reaction, err := p.Fill(r.ctx, s, opened.Modal, []string{c.bad})
	native := s == "slack" && (c.question.Widget == bridge.WidgetDate || c.question.Widget == bridge.WidgetTime || c.question.Widget == bridge.WidgetNumber)
	switch {
	case native && err == nil && len(reaction.Errors) == 0:
		r.t.Errorf("the client's own input took %q", c.bad)
	case native: // the client's own input does not let it pass
	case s == "slack":
		r.told("ana", s, must(r.t, reaction, err), c.problem)
	default:
		must(r.t, reaction, err)
		r.told("ana", s, reaction, c.problem)
		a.pending(s)
		opened = pressPrivate(r, "ana", s, "Continue")
		kept(r, opened.Modal, c.bad)
	}
	a.pending(s)
	reaction, err = p.Fill(r.ctx, s, opened.Modal, []string{c.good})
	must(r.t, reaction, err)
	wantAnswer(a, c.want)
}

// answerPrompt replies to the newest prompt for ana.
func answerPrompt(r *rig, a asked, text string) {
	r.t.Helper()
	r.eventually("the prompt is there", func() bool {
		_, err := r.sandbox.Person("ana").Reply(r.ctx, a.on("telegram").Channel, text)
		return err == nil
	})
}

// kept checks that an open modal holds what was typed before.
func kept(r *rig, modal, text string) {
	r.t.Helper()
	for _, v := range r.sandbox.State().Discord.Modals {
		if raw, _ := json.Marshal(v.View); v.ID == modal && !strings.Contains(string(raw), text) {
			r.t.Errorf("the form lost %q: %s", text, raw)
		}
	}
}

// pressPrivate presses a button of the newest private message.
func pressPrivate(r *rig, who, s, label string) sandbox.Reaction {
	r.t.Helper()
	var at sandbox.Place
	r.eventually("a private message says "+label, func() bool {
		places := r.sandbox.Person(who).PrivatePlaces(s)
		if len(places) == 0 {
			return false
		}
		at = places[len(places)-1]
		return slices.ContainsFunc(sandbox.Controls(s, r.sandbox.Message(at)), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) })
	})
	reaction, err := r.sandbox.Person(who).Press(r.ctx, at, label)
	return must(r.t, reaction, err)
}

func planRequest() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "Please review", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetPlanReview, Plan: "## Steps\n\n1. stop the *world*\n2. start it"}},
	}}
}

func planApproved(r *rig, s string) {
	a := r.ask(planRequest())
	if !strings.Contains(a.text(s), "start it") {
		r.t.Errorf("the plan is not shown: %s", a.text(s))
	}
	r.press("ana", a.on(s), "Approve")
	wantAnswer(a, bridge.JSONAnswer(`{"decision":"approve"}`))
	a.closed("Approve", "ana")
}

func planChanges(r *rig, s string) {
	a := r.ask(planRequest())
	r.typed("ana", a.on(s), "Request changes", "not the *world*")
	wantAnswer(a, bridge.JSONAnswer(`{"decision":"request_changes","feedback":"not the *world*"}`))
	a.closed("Request changes", "world")
}

func feedback(r *rig, s string) {
	a := r.ask(bridge.Request{Ask: bridge.Ask{
		Prompt: "Comments?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetFeedback, Items: []bridge.Item{
			{ID: "a 1", Content: "the first part"}, {ID: "b", Content: "the second part"}}}},
	}})
	switch s {
	case "telegram":
		r.press("ana", a.on(s), "Skip")
		r.eventually("the second item", func() bool { return strings.Contains(a.text(s), "2/2") })
		r.typed("ana", a.on(s), "Answer", "too short")
		r.press("ana", a.on(s), "Submit")
	default:
		opened := r.press("ana", a.on(s), "Answer")
		reaction, err := r.sandbox.Person("ana").Fill(r.ctx, s, opened.Modal, nil, []string{"too short"})
		must(r.t, reaction, err)
	}
	wantAnswer(a, bridge.JSONAnswer(`{"a 1":"","b":"too short"}`))
}

func actionSelection(r *rig, s string) {
	req := one(bridge.WidgetActionSelection, options("retry", "stop")...)
	req.Questions[0].Options[0].Description = "once more"
	a := r.ask(req)
	p := r.sandbox.Person("ana")
	switch s {
	case "discord":
		opened := r.press("ana", a.on(s), "Choose")
		reaction, err := p.Fill(r.ctx, s, opened.Modal, []string{"Stop"})
		must(r.t, reaction, err)
	default:
		reaction, err := p.Pick(r.ctx, a.on(s), []string{"Stop"}, "Continue")
		must(r.t, reaction, err)
	}
	wantAnswer(a, bridge.TextAnswer("stop"))
}

func previews(r *rig, s string) {
	req := one(bridge.WidgetButtons, options("left", "right")...)
	req.Questions[0].Options[1].Preview = "<aside>\n  right\n</aside>"
	a := r.ask(req)
	if !strings.Contains(strings.ReplaceAll(a.text(s), "&lt;", "<"), "aside") {
		r.t.Errorf("the preview is not shown: %s", a.text(s))
	}
	r.press("ana", a.on(s), "Right")
	if got := a.end(); got.Response.Annotations["q"].Preview != "<aside>\n  right\n</aside>" {
		r.t.Errorf("annotations %+v", got.Response.Annotations)
	}
}

func declined(r *rig, s string) {
	req := one(bridge.WidgetButtons, options("left", "right")...)
	req.Declinable = true
	a := r.ask(req)
	r.press("ana", a.on(s), "Decline")
	if got := a.end(); got.State != bridge.StateCancelled || got.Response.Actor == nil || got.Response.Action() != "cancel" {
		r.t.Errorf("%s %+v", got.State, got.Response)
	}
	a.closed("Declined by", "ana")
}

// everyField is a form with every type of field, from the schema and beside it.
func everyField() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{Prompt: "A new service", Questions: []bridge.Question{
		{ID: "form", Widget: bridge.WidgetForm, Schema: json.RawMessage(`{"type":"object","required":["name","replicas","mail","public"],"properties":{
			"name":{"type":"string","title":"Name","minLength":3,"maxLength":20,"pattern":"^[a-z]+$"},
			"replicas":{"type":"integer","title":"Replicas","minimum":1,"maximum":9},
			"mail":{"type":"string","format":"email","title":"Owner"},
			"home":{"type":"string","format":"uri","title":"Home page"},
			"start":{"type":"string","format":"date","title":"First day"},
			"at":{"type":"string","format":"time","title":"At"},
			"public":{"type":"boolean","title":"Public?"},
			"tier":{"type":"string","title":"Tier","oneOf":[{"const":"g","title":"Gold"},{"const":"s","title":"Silver"}]},
			"tags":{"type":"array","title":"Tags","items":{"type":"string","enum":["fast","slow","odd"]},"minItems":1,"maxItems":2}}}`)},
		{ID: "region", Text: "Region", Widget: bridge.WidgetRadio, Options: options("eu", "us")},
		{ID: "why", Text: "Why", Widget: bridge.WidgetTextarea},
		{ID: "sure", Text: "Sure?", Widget: bridge.WidgetConfirm},
	}}}
}

var everyValue = [][]string{
	{"Billing"}, {"3"}, {"ana@example.com"}, {"https://example.com/"}, {"2026-12-01"}, {"08:00"}, {"Yes"}, {"Gold"}, {"fast", "odd"}, {"Us"}, {"because\nof it"}, {"Yes"},
}

// TestLongForm fills in twelve fields with every type of input, on each
// platform, with a mistake on the way and a restart of the daemon in the
// middle; what was typed is there afterwards.
func TestLongForm(t *testing.T) {
	t.Parallel()
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(service)})
			a := r.ask(everyField())
			map[string]func(*rig, asked){"slack": slackForm, "discord": discordForm, "telegram": telegramForm}[service](r, a)
			got := a.end()
			want := map[string]bridge.Answer{
				"form":   bridge.JSONAnswer(`{"name":"billing","replicas":3,"mail":"ana@example.com","home":"https://example.com/","start":"2026-12-01","at":"08:00","public":true,"tier":"g","tags":["fast","odd"]}`),
				"region": bridge.TextAnswer("us"), "why": bridge.TextAnswer("because\nof it"), "sure": bridge.TextAnswer("yes"),
			}
			if got.Response == nil {
				t.Fatalf("state %s", got.State)
			}
			if d := cmp.Diff(want, got.Response.Answers); d != "" {
				t.Errorf("the answers (-want +got): %s", d)
			}
			a.closed("billing", "Gold", "ana")
		})
	}
}

// restart stops the daemon and starts another on the same Redis.
func (r *rig) restart() {
	r.t.Helper()
	r.daemons[0].stop()
	r.daemons = nil
	d := r.start(listen(r.t))
	r.agent = newClient(d.url, testAgentToken)
	r.person = newClient(d.url, anaToken)
	r.connected()
}

func slackForm(r *rig, a asked) {
	opened := r.press("ana", a.on("slack"), "Answer")
	p := r.sandbox.Person("ana")
	reaction, err := p.Fill(r.ctx, "slack", opened.Modal, everyValue...)
	if must(r.t, reaction, err); !strings.Contains(fmt.Sprint(reaction.Errors), "form asked for: ^[a-z]+$") {
		r.t.Fatalf("the mistake is told as %v", reaction.Errors)
	}
	a.pending("slack")
	r.restart()
	// The modal is still open with everything in it; only the mistake changes.
	reaction, err = p.Fill(r.ctx, "slack", opened.Modal, withName("billing")...)
	must(r.t, reaction, err)
}

func withName(name string) [][]string { return append([][]string{{name}}, everyValue[1:]...) }

func discordForm(r *rig, a asked) {
	p := r.sandbox.Person("ana")
	opened := r.press("ana", a.on("discord"), "Answer")
	fill := func(modal string, values ...[]string) sandbox.Reaction {
		r.t.Helper()
		reaction, err := p.Fill(r.ctx, "discord", modal, values...)
		return must(r.t, reaction, err)
	}
	fill(opened.Modal, everyValue[:5]...)
	r.told("ana", "discord", sandbox.Reaction{}, "form asked for")
	opened = pressPrivate(r, "ana", "discord", "Continue (1 of 3)")
	kept(r, opened.Modal, "Billing")
	fill(opened.Modal, []string{"billing"})
	r.restart()
	opened = pressPrivate(r, "ana", "discord", "Continue (2 of 3)")
	fill(opened.Modal, everyValue[5:10]...)
	opened = pressPrivate(r, "ana", "discord", "Back") // and forth: nothing is lost
	kept(r, opened.Modal, "08:00")
	fill(opened.Modal)
	opened = pressPrivate(r, "ana", "discord", "Continue (3 of 3)")
	fill(opened.Modal, everyValue[10:]...)
	places := p.PrivatePlaces("discord")
	review := fmt.Sprint(r.sandbox.Message(places[len(places)-1]))
	for _, want := range []string{"Check and submit", "billing", "Gold", "fast, odd", "because"} {
		if !strings.Contains(review, want) {
			r.t.Errorf("the review does not say %q: %s", want, review)
		}
	}
	a.pending("discord")
	pressPrivate(r, "ana", "discord", "Submit")
}

func telegramForm(r *rig, a asked) {
	at := a.on("telegram")
	on := func(n int) {
		r.t.Helper()
		r.eventually(fmt.Sprintf("the wizard is at %d", n), func() bool { return strings.Contains(a.text("telegram"), fmt.Sprintf("%d/12 ", n)) })
	}
	typed := func(n int, text string) {
		r.t.Helper()
		on(n)
		r.press("ana", at, "Answer")
		answerPrompt(r, a, text)
	}
	typed(1, "Billing")
	r.eventually("the mistake is told", func() bool { return strings.Contains(chat(r, at.Channel), "form asked for: ^[a-z]+$") })
	answerPrompt(r, a, "billing")
	for n := 2; n <= 3; n++ {
		typed(n, everyValue[n-1][0])
	}
	on(4)
	r.restart()
	for n := 4; n <= 6; n++ {
		typed(n, everyValue[n-1][0])
	}
	on(7)
	r.press("ana", at, "Yes")
	on(8)
	r.press("ana", at, "Gold")
	r.press("ana", at, "Next")
	on(9)
	r.press("ana", at, "fast")
	r.press("ana", at, "odd")
	r.press("ana", at, "Back")
	on(8)
	r.press("ana", at, "Next")
	on(9)
	r.press("ana", at, "Next")
	on(10)
	r.press("ana", at, "Us")
	r.press("ana", at, "Next")
	typed(11, everyValue[10][0])
	on(12)
	r.press("ana", at, "Yes")
	r.eventually("the review", func() bool { return strings.Contains(a.text("telegram"), "Check and submit") })
	a.pending("telegram")
	r.press("ana", at, "Submit")
}
