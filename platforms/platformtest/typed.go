package platformtest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// typedTexts contains the flows for questions that people answer with a text.
var typedTexts = []flow{
	{"text", func(r *Rig) {
		const text = "a <b>*line*</b> @everyone & more"
		c := r.ask(samples.One(bridge.WidgetText))
		r.Typed("ana", c.at(), render.LabelAnswer, text)
		c.wantAnswer(bridge.TextAnswer(text))
		c.closed("ana")
		c.harmless()
	}},
	{"textarea", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetTextarea))
		r.Typed("ana", c.at(), render.LabelAnswer, "two\nlines")
		c.wantAnswer(bridge.TextAnswer("two\nlines"))
	}},
	{"a bad text is refused where it was typed", func(r *Rig) {
		req := samples.One(bridge.WidgetText)
		req.Questions[0].Pattern = `v\d+`
		refusedOnce(r, req, "latest", "v7", "does not match the required format")
	}},
	{"typed widgets", func(r *Rig) {
		for _, x := range typedWidgets {
			r.T.(*testing.T).Run(string(x.question.Widget), func(t *testing.T) {
				x.question.ID = "q"
				req := bridge.Request{Ask: bridge.Ask{
					Prompt: "When, what, where?", Questions: []bridge.Question{x.question},
				}}
				refusedOnce(r.with(t), req, x.bad, x.good, x.problem).wantAnswer(x.want)
			})
		}
	}},
	{"changes of a plan need words", func(r *Rig) {
		c := r.ask(plan())
		if text := c.text(); text == "" {
			r.T.Error("the card is empty")
		}
		r.Typed("ana", c.at(), "Request changes", "not the *world*")
		c.wantAnswer(bridge.JSONAnswer(`{"decision":"request_changes","feedback":"not the *world*"}`))
		c.closed("Request changes", "world")
	}},
	{"a plan is approved by one click", func(r *Rig) {
		c := r.ask(plan())
		r.Says(c.at(), "start it")
		r.Press("ana", c.at(), render.LabelApprove)
		c.wantAnswer(bridge.JSONAnswer(`{"decision":"approve"}`))
		c.closed("ana")
	}},
	{"a follow-up shows its own text in the same card", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetText))
		r.Typed("ana", c.at(), render.LabelAnswer, "first")
		c.end()
		c.closed("first")
		next := bridge.Request{Ask: bridge.Ask{Prompt: "And now?", Error: "that was not enough"}}
		rec, err := r.Engine.Reprompt(r.Ctx, r.agent, c.Interaction.ID, next, "")
		if err != nil {
			r.T.Fatal(err)
		}
		c.Record.Interaction = rec.Interaction
		r.Says(c.at(), "that was not enough")
		r.Typed("bo", c.at(), render.LabelAnswer, "second")
		c.wantAnswer(bridge.TextAnswer("second"))
	}},
}

// typedWidget is a widget with an invalid and a valid text.
type typedWidget struct {
	question  bridge.Question
	bad, good string
	want      bridge.Answer
	problem   string // message about the invalid text
}

var typedWidgets = []typedWidget{
	{bridge.Question{Widget: bridge.WidgetNumber, Min: new(1.0), Max: new(9.0), Integer: true},
		"12", "7", bridge.JSONAnswer("7"), "at most 9"},
	{bridge.Question{Widget: bridge.WidgetDate},
		"2026-02-30", "2026-02-28", bridge.TextAnswer("2026-02-28"), "a date such as"},
	{bridge.Question{Widget: bridge.WidgetTime},
		"25:00", "09:30", bridge.TextAnswer("09:30"), "a time such as"},
	{bridge.Question{Widget: bridge.WidgetDateTime}, "tomorrow", "2026-11-21T13:30:00Z",
		bridge.TextAnswer("2026-11-21T13:30:00Z"), "date, time and offset"},
	{bridge.Question{Widget: bridge.WidgetEmail},
		"ana@nowhere", "ana@example.com", bridge.TextAnswer("ana@example.com"), "an email address such as"},
	{bridge.Question{Widget: bridge.WidgetURL}, "x://", "https://example.com/a?b=1",
		bridge.TextAnswer("https://example.com/a?b=1"), "a full URL such as"},
}

// refusedOnce types an invalid text, sees the reason, and corrects it.
func refusedOnce(r *Rig, req bridge.Request, bad, good, problem string) Card {
	r.T.Helper()
	client, w := r.Harness.Client, req.Questions[0].Widget
	c := r.ask(req)
	refused := r.Typed("ana", c.at(), render.LabelAnswer, bad)
	if client.Accepts(w, bad) {
		r.Told("ana", r.Harness.Name, refused, problem)
	} else if len(refused.Errors) == 0 {
		r.T.Errorf("the client's own input accepted %q", bad)
	}
	c.pending()
	r.Retyped("ana", c.at(), render.LabelAnswer, good, refused)
	return c
}

func plan() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{Prompt: "Please review", Questions: []bridge.Question{
		{ID: "q", Widget: bridge.WidgetPlanReview, Plan: "## Steps\n\n1. stop the *world*\n2. start it"},
	}}}
}

// forms contains the flows for requests with several fields.
var forms = []flow{
	{"several questions in one request", func(r *Rig) {
		c := r.ask(bridge.Request{Ask: bridge.Ask{Prompt: "Before I start:", Questions: []bridge.Question{
			{ID: "region", Header: "Region", Text: "Where?", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")},
			{ID: "what", Text: "Which?", Widget: bridge.WidgetCheckbox, Options: samples.Choices("api", "cron", "web")},
			{ID: "why", Text: "Why?", Widget: bridge.WidgetText},
			{ID: "note", Text: "Anything else?", Widget: bridge.WidgetTextarea, Required: new(bool)},
		}}})
		r.Answer("cy", c.at(), []person.Field{
			{Widget: bridge.WidgetRadio, Values: []string{"Us"}}, {Widget: bridge.WidgetCheckbox, Values: []string{"Web"}},
			{Widget: bridge.WidgetText, Values: []string{"because"}}, {Widget: bridge.WidgetTextarea, Values: nil},
		})
		c.wantAnswers(map[string]bridge.Answer{
			"region": bridge.TextAnswer("us"), "what": bridge.ListAnswer("web"), "why": bridge.TextAnswer("because"),
		})
		c.closed("because", "cy")
	}},
	{"feedback is a text for each item", func(r *Rig) {
		c := r.ask(bridge.Request{Ask: bridge.Ask{Prompt: "Comments?", Questions: []bridge.Question{
			{ID: "q", Widget: bridge.WidgetFeedback, Items: []bridge.Item{
				{ID: "a 1", Content: "the first part"}, {ID: "b", Content: "the second part"}}},
		}}})
		r.Answer("ana", c.at(), []person.Field{
			{Widget: bridge.WidgetTextarea, Values: nil}, {Widget: bridge.WidgetTextarea, Values: []string{"too short"}},
		})
		c.wantAnswer(bridge.JSONAnswer(`{"a 1":"","b":"too short"}`))
	}},
	{"a form with every type of field", func(r *Rig) {
		c := r.ask(everyField())
		r.Answer("ana", c.at(), everyValue)
		c.wantAnswers(map[string]bridge.Answer{
			"form": bridge.JSONAnswer(`{"name":"billing","replicas":3,"mail":"ana@example.com",` +
				`"home":"https://example.com/","start":"2026-12-01","at":"08:00","public":true,"tier":"g","tags":["fast","odd"]}`),
			"region": bridge.TextAnswer("us"), "why": bridge.TextAnswer("because\nof it"), "sure": bridge.TextAnswer("yes"),
		})
		c.closed("billing", "Gold", "ana")
	}},
}

// wantAnswers waits for the answers to all questions.
func (c Card) wantAnswers(want map[string]bridge.Answer) {
	c.r.T.Helper()
	got := c.end()
	if got.State != bridge.StateAnswered {
		c.r.T.Fatalf("%s %+v", got.State, got.Response)
	}
	if d := cmp.Diff(want, got.Response.Answers); d != "" {
		c.r.T.Errorf("the answers (-want +got): %s", d)
	}
}

// everyField returns a form with every type of field, some of them from a
// schema.
func everyField() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{Prompt: "A new service", Questions: []bridge.Question{
		{ID: "form", Widget: bridge.WidgetForm, Schema: json.RawMessage(`{"type":"object",
			"required":["name","replicas","mail","public"],"properties":{
			"name":{"type":"string","title":"Name","minLength":3,"maxLength":20,"pattern":"^[a-z]+$"},
			"replicas":{"type":"integer","title":"Replicas","minimum":1,"maximum":9},
			"mail":{"type":"string","format":"email","title":"Owner"},
			"home":{"type":"string","format":"uri","title":"Home page"},
			"start":{"type":"string","format":"date","title":"First day"},
			"at":{"type":"string","format":"time","title":"At"},
			"public":{"type":"boolean","title":"Public?"},
			"tier":{"type":"string","title":"Tier","oneOf":[{"const":"g","title":"Gold"},{"const":"s","title":"Silver"}]},
			"tags":{"type":"array","title":"Tags","minItems":1,"maxItems":2,
				"items":{"type":"string","enum":["fast","slow","odd"]}}}}`)},
		{ID: "region", Text: "Region", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")},
		{ID: "why", Text: "Why", Widget: bridge.WidgetTextarea},
		{ID: "sure", Text: "Sure?", Widget: bridge.WidgetConfirm},
	}}}
}

var everyValue = []person.Field{
	{Widget: bridge.WidgetText, Values: []string{"billing"}}, {Widget: bridge.WidgetNumber, Values: []string{"3"}},
	{Widget: bridge.WidgetEmail, Values: []string{"ana@example.com"}}, {Widget: bridge.WidgetURL, Values: []string{"https://example.com/"}},
	{Widget: bridge.WidgetDate, Values: []string{"2026-12-01"}}, {Widget: bridge.WidgetTime, Values: []string{"08:00"}},
	{Widget: bridge.WidgetConfirm, Values: []string{"Yes"}}, {Widget: bridge.WidgetRadio, Values: []string{"Gold"}},
	{Widget: bridge.WidgetCheckbox, Values: []string{"fast", "odd"}}, {Widget: bridge.WidgetRadio, Values: []string{"Us"}},
	{Widget: bridge.WidgetTextarea, Values: []string{"because\nof it"}}, {Widget: bridge.WidgetConfirm, Values: []string{"Yes"}},
}
