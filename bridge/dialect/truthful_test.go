package dialect_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

// TestChoicesAreTold checks for options whose labels contain a comma that agents
// and people read what was chosen, and that a page which joins them in another way
// is asked again.
func TestChoicesAreTold(t *testing.T) {
	t.Parallel()
	widget, err := askwidget.DecodeAsk([]byte(`{"prompt":"Where?","widgets":[{"type":"checkbox","options":["eu,us","eu","us"],"default":"us"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	questions, err := askuserquestion.Request([]byte(`{"questions":[{"question":"Where?","header":"Where is it deployed?","multiSelect":true,"options":[{"label":"eu, us"},{"label":"eu"},{"label":"us"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		chosen            []string
		widget, question  string
		people, shellText string
	}{
		{[]string{"eu,us"}, `["eu,us"]`, `["eu, us"]`, "“eu,us”", `["eu,us"]`},
		{[]string{"eu", "us"}, `["eu","us"]`, `["eu","us"]`, "eu, us", "eu,us"},
		{[]string{"eu,us", "us"}, `["eu,us","us"]`, `["eu, us","us"]`, "“eu,us”, us", `["eu,us","us"]`},
		{[]string{"eu"}, "eu", "eu", "eu", "eu"},
	} {
		rec := dialecttest.Record(t, widget, bridge.Response{Answers: map[string]bridge.Answer{"w1": bridge.ListAnswer(c.chosen...)}})
		got, err := askwidget.Value(rec)
		if err != nil || got != c.widget {
			t.Errorf("%q for a widget: %s, %v, want %s", c.chosen, got, err, c.widget)
		}
		reply, err := askwidget.DecodeAnswer(rec.Interaction, askwidget.Answer{Value: got})
		if err != nil || reply.Answers["w1"].String() != c.shellText {
			t.Errorf("%s is read as %s, %v", got, reply.Answers["w1"], err)
		}
		if people := rec.Interaction.Questions[0].Labels(rec.Response.Answers["w1"]); people != c.people {
			t.Errorf("people read %s, want %s", people, c.people)
		}
		var wide []string
		for _, v := range c.chosen {
			if v == "eu,us" {
				v = "eu, us"
			}
			wide = append(wide, v)
		}
		rec = dialecttest.Record(t, questions, bridge.Response{Answers: map[string]bridge.Answer{"q1": bridge.ListAnswer(wide...)}})
		answers, err := askuserquestion.Answers(rec)
		if err != nil || answers["Where?"] != c.question {
			t.Errorf("%q for a tool: %s, %v, want %s", wide, answers["Where?"], err, c.question)
		}
		if reply, err := askuserquestion.DecodeAnswers(rec.Interaction, answers); err != nil || reply.Answers["q1"].Empty() {
			t.Errorf("%s is read as %+v, %v", answers, reply, err)
		}
	}
	i := dialecttest.Record(t, widget, bridge.Response{}).Interaction
	if _, err := askwidget.DecodeAnswer(i, askwidget.Answer{Value: "eu,us"}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a text with two meanings: %v", err)
	}
}

// TestQuestionIsShown checks that the label of a widget does not become the
// question, and that a long header is shortened.
func TestQuestionIsShown(t *testing.T) {
	t.Parallel()
	one, err := askwidget.DecodeAsk([]byte(`{"prompt":"Delete the old database?","widgets":[{"type":"buttons","label":"Choose one:","options":["Yes","No"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if q := one.Questions[0]; one.Prompt != "Delete the old database?" || q.Text != "" || q.Description != "Choose one:" {
		t.Errorf("one widget: %q, %+v", one.Prompt, q)
	}
	if w, ok := askwidget.Widgets(dialecttest.Record(t, one, bridge.Response{}).Interaction); !ok || w[0].Label != "Choose one:" {
		t.Errorf("a front end gets %+v", w)
	}
	two, err := askwidget.DecodeAsk([]byte(`{"prompt":"Deploy?","widgets":[{"type":"select","label":"Where","options":["eu","us"]},{"type":"confirm"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if two.Prompt != "Deploy?" || two.Questions[0].Text != "Where" || two.Questions[1].Text != "Deploy?" {
		t.Errorf("two widgets: %+v", two)
	}
	for header, want := range map[string]string{"Format": "Format", "Twelve chars": "Twelve chars", "Deployment region": "Deployment…", "Regionen für alle": "Regionen fü…"} {
		r, err := askuserquestion.Ask([]askuserquestion.Question{{Question: "Where?", Header: header, Options: []askuserquestion.Option{{Label: "eu"}}}})
		if err == nil {
			err = r.Normalize()
		}
		if err != nil || r.Questions[0].Header != want {
			t.Errorf("%q is shown as %q, %v", header, r.Questions[0].Header, err)
		}
	}
}
