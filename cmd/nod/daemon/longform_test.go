package daemon_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// kept checks that an open modal holds the text that was typed before.
func kept(r *rig.Rig, modal, text string) {
	r.T.Helper()
	for _, v := range r.Sandbox.State().Discord.Modals {
		if raw, _ := json.Marshal(v.View); v.ID == modal && !strings.Contains(string(raw), text) {
			r.T.Errorf("the form lost %q: %s", text, raw)
		}
	}
}

// privateWith waits until the newest ephemeral message has a button.
func privateWith(r *rig.Rig, who, s, label string) sandbox.Place {
	r.T.Helper()
	var at sandbox.Place
	r.Eventually("a private message says "+label, func() bool {
		places := r.Sandbox.Person(who).PrivatePlaces(s)
		if len(places) == 0 {
			return false
		}
		at = places[len(places)-1]
		return slices.ContainsFunc(sandbox.Controls(s, r.Sandbox.Message(at)), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) })
	})
	return at
}

// everyField is a form with every type of field, some from a schema
// and some outside it.
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
		{ID: "region", Text: "Region", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")},
		{ID: "why", Text: "Why", Widget: bridge.WidgetTextarea},
		{ID: "sure", Text: "Sure?", Widget: bridge.WidgetConfirm},
	}}}
}

var everyValue = [][]string{
	{"Billing"}, {"3"}, {"ana@example.com"}, {"https://example.com/"}, {"2026-12-01"}, {"08:00"}, {"Yes"}, {"Gold"}, {"fast", "odd"}, {"Us"}, {"because\nof it"}, {"Yes"},
}

// TestLongForm fills in twelve fields with every type of input, on each
// platform, with a mistake on the way and a restart of the daemon in the
// middle. The typed text is still there afterward.
func TestLongForm(t *testing.T) {
	t.Parallel()
	for _, service := range rig.Services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(service)})
			a := r.Ask(everyField())
			map[string]func(*rig.Rig, rig.Asked){"slack": slackForm, "discord": discordForm, "telegram": telegramForm}[service](r, a)
			got := a.End()
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
			a.Closed("billing", "Gold", "ana")
		})
	}
}

// restart stops the daemon and starts another on the same Redis.
func restart(r *rig.Rig) {
	r.T.Helper()
	r.Daemons[0].Stop()
	r.Daemons = nil
	d := r.Start(rig.Listen(r.T))
	r.Agent = rig.NewClient(d.URL, rig.TestAgentToken)
	r.Person = rig.NewClient(d.URL, rig.AnaToken)
	r.Connected()
}

func slackForm(r *rig.Rig, a rig.Asked) {
	refused := r.Fill("ana", a.On("slack"), "Answer", everyValue...)
	if !strings.Contains(fmt.Sprint(refused.Errors), "required format: ^[a-z]+$") {
		r.T.Fatalf("the mistake is told as %v", refused.Errors)
	}
	a.Pending("slack")
	restart(r)
	// The modal is still open with everything in it; only the mistake changes.
	r.Refill("ana", "slack", refused.Modal, withName("billing")...)
}

func withName(name string) [][]string { return append([][]string{{name}}, everyValue[1:]...) }

func discordForm(r *rig.Rig, a rig.Asked) {
	r.Fill("ana", a.On("discord"), "Answer", everyValue[:5]...)
	r.Told("ana", "discord", sandbox.Reaction{}, "required format")
	again := privateWith(r, "ana", "discord", "Continue (1 of 3)")
	kept(r, r.Press("ana", again, "Continue (1 of 3)").Modal, "Billing")
	r.Fill("ana", again, "Continue (1 of 3)", []string{"billing"})
	restart(r)
	r.Fill("ana", privateWith(r, "ana", "discord", "Continue (2 of 3)"), "Continue (2 of 3)", everyValue[5:10]...)
	back := privateWith(r, "ana", "discord", "Back") // and forth: nothing is lost
	kept(r, r.Press("ana", back, "Back").Modal, "08:00")
	r.Fill("ana", back, "Back")
	r.Fill("ana", privateWith(r, "ana", "discord", "Continue (3 of 3)"), "Continue (3 of 3)", everyValue[10:]...)
	places := r.Sandbox.Person("ana").PrivatePlaces("discord")
	review := fmt.Sprint(r.Sandbox.Message(places[len(places)-1]))
	for _, want := range []string{"Check and submit", "billing", "Gold", "fast, odd", "because"} {
		if !strings.Contains(review, want) {
			r.T.Errorf("the review does not say %q: %s", want, review)
		}
	}
	a.Pending("discord")
	r.Press("ana", privateWith(r, "ana", "discord", "Submit"), "Submit")
}

func telegramForm(r *rig.Rig, a rig.Asked) {
	at := a.On("telegram")
	on := func(n int) {
		r.T.Helper()
		r.Eventually(fmt.Sprintf("the wizard is at %d", n), func() bool { return strings.Contains(a.Text("telegram"), fmt.Sprintf("%d/12 ", n)) })
	}
	typed := func(n int, text string) {
		r.T.Helper()
		on(n)
		r.Press("ana", at, "Answer")
		answerPrompt(r, a, text)
	}
	typed(1, "Billing")
	r.Eventually("the mistake is told", func() bool { return strings.Contains(rig.Chat(r, at.Channel), "required format: ^[a-z]+$") })
	answerPrompt(r, a, "billing")
	for n := 2; n <= 3; n++ {
		typed(n, everyValue[n-1][0])
	}
	on(4)
	restart(r)
	for n := 4; n <= 6; n++ {
		typed(n, everyValue[n-1][0])
	}
	on(7)
	r.Press("ana", at, "Yes")
	on(8)
	r.Press("ana", at, "Gold")
	r.Press("ana", at, "Next")
	on(9)
	r.Press("ana", at, "fast")
	r.Press("ana", at, "odd")
	r.Press("ana", at, "Back")
	on(8)
	r.Press("ana", at, "Next")
	on(9)
	r.Press("ana", at, "Next")
	on(10)
	r.Press("ana", at, "Us")
	r.Press("ana", at, "Next")
	typed(11, everyValue[10][0])
	on(12)
	r.Press("ana", at, "Yes")
	r.Eventually("the review", func() bool { return strings.Contains(a.Text("telegram"), "Check and submit") })
	a.Pending("telegram")
	r.Press("ana", at, "Submit")
}

// TestLongList fills in a form on Discord whose list of options is longer than
// one modal, with texts in addition, and goes back in between.
func TestLongList(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	hosts := bridge.Question{ID: "hosts", Text: "Which hosts?", Widget: bridge.WidgetCheckbox, AllowOther: true, MinChoices: 3}
	for n := range 300 {
		hosts.Options = append(hosts.Options, bridge.Option{Value: fmt.Sprint("host", n)})
	}
	why := bridge.Question{ID: "why", Text: "Why?", Widget: bridge.WidgetText}
	a := r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "Patch", Questions: []bridge.Question{hosts, why}}})
	r.Fill("ana", a.On("discord"), "Answer", []string{"host3"}, nil, nil, nil, []string{"host124"})
	const second, third = "Continue (2 of 3)", "Continue (3 of 3)"
	r.Fill("ana", privateWith(r, "ana", "discord", second), second, nil, nil, nil, nil, []string{"host249"})
	back := privateWith(r, "ana", "discord", "Back")
	kept(r, r.Press("ana", back, "Back").Modal, "host249")
	r.Fill("ana", back, "Back", nil, nil, nil, nil, []string{"host248"})
	r.Fill("ana", privateWith(r, "ana", "discord", third), third, []string{"host250"}, []string{"host299"}, []string{"elsewhere"}, []string{"because"})
	r.Press("ana", privateWith(r, "ana", "discord", "Submit"), "Submit")
	want := bridge.ListAnswer("host3", "host124", "host248", "host250", "host299", "elsewhere")
	if d := cmp.Diff(want, a.End().Response.Answers["hosts"]); d != "" {
		t.Errorf("the answer (-want +got): %s", d)
	}
}
