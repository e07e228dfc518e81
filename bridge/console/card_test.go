package console_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// shownCard is a card as the page receives it.
type shownCard struct {
	State     bridge.State
	Headline  string
	Body      string
	Closing   string
	MayAnswer bool `json:"may_answer"`
	Decisions []struct{ ID, Label, Tone, Wants string }
	Fields    []struct {
		ID, Label, Hint, Widget string
		Many, Required, Other   bool
		Value                   []string
		Options                 []bridge.Option
	}
	Input, Confirm string
	Seen           string
	Together       bool
	Terms          int
	Asked, Notes   []string
	Timeline       []struct{ Text string }
	Problems       map[string]string
}

func (c shownCard) decisions() []string {
	var out []string
	for _, d := range c.Decisions {
		out = append(out, d.ID)
	}
	return out
}

// card makes a call and returns the card in its response.
func (b *browser) card(method string, id bridge.ID, body any) shownCard {
	b.t.Helper()
	status, text := b.call(method, "/console/cards/"+string(id), body)
	if status != http.StatusOK {
		b.t.Fatalf("%d %s", status, text)
	}
	var c shownCard
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// approve sends a decision with what the page shows.
func (b *browser) approve(id bridge.ID, fields map[string]any) (int, string) {
	b.t.Helper()
	fields["seen"] = b.card(http.MethodGet, id, nil).Seen
	return b.call(http.MethodPost, "/console/cards/"+string(id), fields)
}

// TestApproval checks that an approval is shown with its exact input and
// without the agent's markup, and that a responder can decide on it.
func TestApproval(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.ask(func(r *bridge.Request) {
		approval(r)
		r.Prompt = "Deploy <script>alert(1)</script> **now** [docs](https://example.com/?a=1&b=2)"
		r.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce}
		r.Approval.Confirm = "prod"
	})
	b := o.signedIn("ana")
	c := b.card(http.MethodGet, id, nil)
	if c.State != bridge.StatePending || !c.MayAnswer || !slices.Equal(c.decisions(), []string{"once", "deny", "deny_reason"}) {
		t.Errorf("the card is %+v", c)
	}
	if c.Decisions[0].Tone != "bad" || c.Decisions[0].Wants != "confirm" || c.Decisions[2].Wants != "reason" {
		t.Errorf("the decisions are %+v", c.Decisions)
	}
	if strings.Contains(c.Body, "<script") || !strings.Contains(c.Body, "<strong>now</strong>") || c.Headline != "Run make <deploy>?" ||
		!strings.Contains(c.Body, `href="https://example.com/?a=1&amp;b=2"`) {
		t.Errorf("the body is %s", c.Body)
	}
	var input struct{ Command string }
	if err := json.Unmarshal([]byte(c.Input), &input); err != nil || input.Command != "make <deploy>" || c.Confirm != "Type to confirm: prod" || !slices.Equal(c.Asked, []string{"ana", "bo"}) {
		t.Errorf("the card is %+v", c)
	}
	for _, bad := range []map[string]any{{"decision": "once"}, {"decision": "once", "confirm": "dev"}, {"decision": "always"}, {"decision": "once", "confirm": "prod", "terms": 1}} {
		if status, text := b.approve(id, bad); status < 400 || status >= 500 {
			t.Errorf("%s: %d %s", bad, status, text)
		}
	}
	for _, unseen := range []string{`{"decision":"once","confirm":"prod"}`, `{"decision":"once","confirm":"prod","seen":"` + strings.Repeat("0", 32) + `"}`, `{`} {
		if status, text := b.call(http.MethodPost, "/console/cards/"+string(id), unseen); status < 400 || status >= 500 {
			t.Errorf("%s: %d %s", unseen, status, text)
		}
	}
	if rec := o.get(id); rec.State.Final() {
		t.Fatalf("it is %s", rec.State)
	}
	c = b.card(http.MethodPost, id, map[string]any{"decision": "once", "confirm": "prod", "terms": 0, "seen": c.Seen})
	if c.State != bridge.StateApproved || c.MayAnswer || len(c.Timeline) != 2 || !strings.Contains(c.Timeline[1].Text, "approved by ana on api") {
		t.Errorf("afterwards the card is %+v", c)
	}
	status, text := o.signedIn("bo").call(http.MethodPost, "/console/cards/"+string(id), `{"decision":"deny"}`)
	if status != http.StatusConflict || !strings.Contains(text, "ana already approved") || o.get(id).State != bridge.StateApproved {
		t.Errorf("a late denial: %d %s", status, text)
	}
}

// TestDecisions checks what the page sends with a decision: a reason, or an
// edited input.
func TestDecisions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn("ana")
	edit := o.ask(func(r *bridge.Request) {
		approval(r)
		r.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideEdit}
	})
	shown := b.card(http.MethodGet, edit, nil)
	if shown.Decisions[0].Wants != "input" {
		t.Errorf("the decisions are %+v", shown.Decisions)
	}
	longer := o.ask(func(r *bridge.Request) {
		approval(r)
		r.Session, r.Approval.Decisions = "s", []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideSession}
	})
	if c := b.card(http.MethodGet, longer, nil); !strings.Contains(c.Body, "may repeat exactly this request") {
		t.Errorf("the page offers %+v and does not state what they cover: %s", c.Decisions, c.Body)
	}
	b.card(http.MethodPost, edit, map[string]any{"decision": "edit", "input": `{"command":"make"}`, "seen": shown.Seen})
	if rec := o.get(edit); rec.State != bridge.StateApproved || string(rec.Response.Input) != `{"command":"make"}` {
		t.Errorf("%s with %s", rec.State, rec.Response.Input)
	}
	deny := o.ask(func(r *bridge.Request) {
		approval(r)
		r.Approval.Decisions = []bridge.Decision{bridge.DecideDenyReason, bridge.DecideOnce}
	})
	c := b.card(http.MethodPost, deny, `{"decision":"deny_reason","reason":"not <today>"}`)
	if rec := o.get(deny); rec.State != bridge.StateDenied || rec.Response.Reason != "not <today>" {
		t.Errorf("%s, %q", rec.State, rec.Response.Reason)
	}
	if strings.Contains(c.Body+c.Closing, "<today>") || !strings.Contains(c.Body+c.Closing, "&lt;today&gt;") {
		t.Errorf("the reason is shown as %s", c.Closing)
	}
}

// TestWhoSees checks that responders and auditors see a request, and that only
// responders can decide on it.
func TestWhoSees(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.ask(func(r *bridge.Request) { approval(r); r.Requester = "bo" })
	path := "/console/cards/" + string(id)
	if c := o.signedIn("ana").card(http.MethodGet, id, nil); !c.MayAnswer {
		t.Error("a responder cannot respond")
	}
	bo := o.signedIn("bo")
	if c := bo.card(http.MethodGet, id, nil); !c.MayAnswer || !slices.Equal(c.decisions(), []string{"deny", "deny_reason"}) {
		t.Errorf("the requester may %q", c.decisions())
	}
	if status, _ := bo.approve(id, map[string]any{"decision": "once"}); status != http.StatusForbidden {
		t.Errorf("the requester approves: %d", status)
	}
	cy, aud := o.signedIn("cy"), o.signedIn("aud")
	if status, body := cy.call(http.MethodGet, path, nil); status != http.StatusNotFound || strings.Contains(body, "May I") {
		t.Errorf("a person who is not a responder sees %d %s", status, body)
	}
	if c := aud.card(http.MethodGet, id, nil); c.MayAnswer || c.Body == "" {
		t.Errorf("an auditor sees %+v", c)
	}
	for name, b := range map[string]*browser{"cy": cy, "aud": aud} {
		send := map[string]string{"decision": "once", "seen": aud.card(http.MethodGet, id, nil).Seen}
		if status, _ := b.call(http.MethodPost, path, send); status != http.StatusNotFound && status != http.StatusForbidden {
			t.Errorf("%s decides: %d", name, status)
		}
	}
	if rec := o.get(id); rec.State.Final() {
		t.Errorf("it is %s", rec.State)
	}
	for _, path := range []string{"/console/cards/nonsense", "/console/cards/0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"} {
		if status, _ := aud.call(http.MethodGet, path, nil); status != http.StatusBadRequest && status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// question returns an option that adds a question with one widget.
func question(w bridge.Widget, change func(*bridge.Question)) func(*bridge.Request) {
	return func(r *bridge.Request) {
		q := bridge.Question{ID: "q", Widget: w}
		switch w {
		case bridge.WidgetButtons, bridge.WidgetSelect, bridge.WidgetRadio, bridge.WidgetCheckbox:
			q.Options = []bridge.Option{{Value: "eu", Label: "Europe", Description: "near"}, {Value: "us"}, {Value: "ap"}}
		}
		if change != nil {
			change(&q)
		}
		r.Questions, r.Declinable = []bridge.Question{q}, true
	}
}

// TestAnswers checks that the values that the page sends for each widget become
// the same answers as in chat, and that invalid values are reported next to
// their field and resolve nothing.
func TestAnswers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn("ana")
	for name, x := range map[string]struct {
		ask  func(*bridge.Request)
		send string
		want string // the answer; if empty, the field has a problem
		at   string
	}{
		"buttons":        {question(bridge.WidgetButtons, nil), `{"values":{"q":["eu"]}}`, `"eu"`, ""},
		"confirm":        {question(bridge.WidgetConfirm, nil), `{"values":{"q":["yes"]}}`, `"yes"`, ""},
		"select":         {question(bridge.WidgetSelect, nil), `{"values":{"q":["us"]}}`, `"us"`, ""},
		"not an option":  {question(bridge.WidgetRadio, nil), `{"values":{"q":["mars"]}}`, "", "q"},
		"nothing":        {question(bridge.WidgetRadio, nil), `{}`, "", "q"},
		"several":        {question(bridge.WidgetCheckbox, nil), `{"values":{"q":["eu","ap"]}}`, `["eu","ap"]`, ""},
		"text":           {question(bridge.WidgetText, nil), `{"values":{"q":[" a branch "]}}`, `" a branch "`, ""},
		"number":         {question(bridge.WidgetNumber, nil), `{"values":{"q":["3"]}}`, "3", ""},
		"not a number":   {question(bridge.WidgetNumber, nil), `{"values":{"q":["three"]}}`, "", "q"},
		"not a date":     {question(bridge.WidgetDate, nil), `{"values":{"q":["soon"]}}`, "", "q"},
		"free text":      {question(bridge.WidgetRadio, other), `{"others":{"q":"the moon"}}`, `"the moon"`, ""},
		"free text, too": {question(bridge.WidgetCheckbox, other), `{"values":{"q":["eu"]},"others":{"q":"the moon"}}`, `["eu","the moon"]`, ""},
		"a form":         {question(bridge.WidgetForm, form), `{"values":{"q/name":["billing"],"q/public":["true"]}}`, `{"name":"billing","public":true}`, ""},
		"a plan": {question(bridge.WidgetPlanReview, plan), `{"values":{"q/decision":["request_changes"],"q/feedback":["smaller"]}}`,
			`{"decision":"request_changes","feedback":"smaller"}`, ""},
		"feedback":    {question(bridge.WidgetFeedback, items), `{"values":{"q/b":["add one"]}}`, `{"a":"","b":"add one"}`, ""},
		"half a form": {question(bridge.WidgetForm, form), `{"values":{"q/public":["true"]}}`, "", "q/name"},
	} {
		id := o.ask(x.ask)
		c := b.card(http.MethodPost, id, x.send)
		rec := o.get(id)
		if x.want == "" {
			if c.Problems[x.at] == "" || rec.State.Final() {
				t.Errorf("%s: %s, problems %v", name, rec.State, c.Problems)
			}
			continue
		}
		if rec.State != bridge.StateAnswered || c.State != bridge.StateAnswered {
			t.Errorf("%s: %s, problems %v", name, rec.State, c.Problems)
			continue
		}
		if got, err := json.Marshal(rec.Response.Answers["q"]); err != nil || string(got) != x.want {
			t.Errorf("%s is answered with %s, %v; want %s", name, got, err, x.want)
		}
	}
	id := o.ask(question(bridge.WidgetText, nil))
	if c := b.card(http.MethodPost, id, `{"decline":true}`); c.State != bridge.StateCancelled {
		t.Errorf("a declined request is %s", c.State)
	}
	if status, text := b.call(http.MethodPost, "/console/cards/"+string(id), `{}`); status != http.StatusConflict {
		t.Errorf("a late answer: %d %s", status, text)
	}
}

func other(q *bridge.Question) { q.AllowOther = true }

func form(q *bridge.Question) {
	q.Schema = json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"public":{"type":"boolean"}}}`)
}

func plan(q *bridge.Question) { q.Plan = "1. stop it" }

func items(q *bridge.Question) {
	q.Items = []bridge.Item{{ID: "a", Content: "one"}, {ID: "b", Content: "two"}}
}

// TestFields checks how a question is shown: its cleaned texts, its options and
// its default.
func TestFields(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	optional := false
	c := o.signedIn("ana").card(http.MethodGet, o.ask(question(bridge.WidgetCheckbox, func(q *bridge.Question) {
		q.Text, q.Header, q.AllowOther, q.Required = "Where to? **Hurry**", "Region", true, &optional
		initial := bridge.ListAnswer("eu")
		q.Default = &initial
		q.Options[0].Label = "Eu\u202erope"
	})), nil)
	f := c.Fields[0]
	if f.ID != "q" || f.Widget != "checkbox" || !f.Many || f.Required || !f.Other || !slices.Equal(f.Value, []string{"eu"}) {
		t.Errorf("the field is %+v", f)
	}
	if f.Label == "" || !strings.Contains(f.Label, "Hurry") || strings.Contains(f.Label+f.Hint, "**") {
		t.Errorf("its label is %q, its hint %q", f.Label, f.Hint)
	}
	if len(f.Options) != 3 || f.Options[0].Value != "eu" || f.Options[0].Description != "near" || strings.Contains(f.Options[0].Label, "\u202e") {
		t.Errorf("its options are %+v", f.Options)
	}
}

// TestLists checks that the inbox lists the pending requests that the person may
// answer.
func TestLists(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.ask(approval)
	for who, n := range map[string]int{"ana": 1, "cy": 0, "aud": 0} {
		_, body := o.signedIn(who).call(http.MethodGet, "/console/inbox", nil)
		if got := strings.Count(body, string(id)); min(got, 1) != n || !strings.Contains(body, `"items":[`) {
			t.Errorf("%s finds %s", who, body)
		}
	}
}

// TestPrivateRequest checks that a responder sees a private request in full, with
// the controls to decide on it, and that others do not see it.
func TestPrivateRequest(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.asks(command("make private"), func(r *bridge.Request) { r.Route, r.Prompt = "private", "Because of *ACME*" })
	bo := o.signedIn("bo")
	c := bo.card(http.MethodGet, id, nil)
	if c.Headline != "Run make private?" || !strings.Contains(c.Body, "ACME") || !slices.Contains(c.decisions(), "once") {
		t.Errorf("the card is %+v", c)
	}
	in := bo.list("/console/inbox")
	if len(in.Items) != 1 || in.Items[0].Card == nil || in.Items[0].Card.Seen != c.Seen {
		t.Errorf("the inbox has %+v", in.Items)
	}
	if status, text := o.signedIn("ana").call(http.MethodGet, "/console/cards/"+string(id), nil); status != http.StatusNotFound {
		t.Errorf("ana sees %d %s", status, text)
	}
	if status, text := bo.approve(id, map[string]any{"decision": "once"}); status != http.StatusOK {
		t.Error(status, text)
	}
}
