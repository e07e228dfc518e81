package askuserquestion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

const two = `{"questions":[{"question":"How should I format the output?","header":"Format","options":[{"label":"Summary","description":"Brief overview"},{"label":"Detailed","description":"Full explanation"}],"multiSelect":false},{"question":"Which sections should I include?","header":"Sections","options":[{"label":"Introduction","description":"Opening context"},{"label":"Conclusion","description":"Final summary"}],"multiSelect":true}]}`

const one = `{"questions":[{"question":"Which <framework>?","header":"Framework","options":[{"label":"React","preview":"<App/>"},{"label":"Vue, 3"}],"multiSelect":false}]}`

func TestGolden(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "golden")
	for name, c := range map[string]struct {
		in   string
		resp map[string]bridge.Answer
	}{
		"two":          {two, map[string]bridge.Answer{"q1": bridge.TextAnswer("Summary"), "q2": bridge.ListAnswer("Introduction", "Conclusion")}},
		"two-free":     {two, map[string]bridge.Answer{"q1": bridge.TextAnswer("as a poem"), "q2": bridge.ListAnswer("Conclusion", "an index")}},
		"one":          {one, map[string]bridge.Answer{"q1": bridge.TextAnswer("React")}},
		"two-skipping": {two, map[string]bridge.Answer{"q1": bridge.TextAnswer("Detailed")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := askuserquestion.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			rec := dialecttest.Record(t, r, bridge.Response{Answers: c.resp})
			result, err := askuserquestion.Permission([]byte(c.in), rec)
			if err != nil {
				t.Fatal(err)
			}
			out, err := dialect.Encode(result)
			if err != nil {
				t.Fatal(err)
			}
			book.Add(t, name, c.in, string(out), r)
			// A front end that sends these answers gets the same result.
			answers, err := askuserquestion.Answers(rec)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := askuserquestion.DecodeAnswers(rec.Interaction, answers)
			if err != nil {
				t.Fatal(err)
			}
			for id, a := range c.resp {
				got := reply.Answers[id].Values()
				if o := reply.Others[id]; o != "" {
					got = append(got, o)
				}
				if d := cmp.Diff(a.Values(), got); d != "" {
					t.Errorf("%s read back: %s", id, d)
				}
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: "questions: required", `{`: "input: ",
		`{"questions":[{"question":" ","options":[{"label":"a"}]}]}`:                                            "question: required",
		`{"questions":[{"question":"a","options":[]}]}`:                                                         "options: required",
		`{"questions":[{"question":"a","options":[{"label":"x"}]},{"question":"a","options":[{"label":"x"}]}]}`: "duplicate question",
	} {
		if _, err := askuserquestion.Request([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	r, err := askuserquestion.Request([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	i := dialecttest.Record(t, r, bridge.Response{}).Interaction
	if _, err := askuserquestion.DecodeAnswers(i, map[string]string{"Another?": "x"}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("an extra key: %v", err)
	}
	expired := dialecttest.Record(t, r, bridge.Response{State: bridge.StateExpired})
	if _, err := askuserquestion.Permission([]byte(two), expired); err == nil {
		t.Error("a request without a response is answered")
	}
	if got, err := dialect.Encode(askuserquestion.Allow(json.RawMessage(`{"a": 1}`))); err != nil || string(got) != `{"behavior":"allow","updated_input":{"a":1}}` {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(two, "Summary, Detailed")
	f.Add(one, "Vue, 3")
	f.Fuzz(func(t *testing.T, in, answer string) {
		r, err := askuserquestion.Request([]byte(in))
		if err != nil || r.Normalize() != nil {
			return
		}
		i := bridge.Interaction{Ask: bridge.Ask{Prompt: r.Prompt, Questions: r.Questions}}
		answers, resp := map[string]string{}, bridge.Response{State: bridge.StateAnswered, Answers: map[string]bridge.Answer{}}
		for _, q := range r.Questions {
			answers[q.Text] = answer
			resp.Answers[q.ID] = bridge.TextAnswer(answer)
		}
		_, _ = askuserquestion.DecodeAnswers(i, answers) // checks that it does not panic
		result, err := askuserquestion.Permission([]byte(in), bridge.Record{Interaction: i, State: resp.State, Response: &resp})
		if err != nil || !json.Valid(result.UpdatedInput) {
			t.Errorf("%s, %v", result.UpdatedInput, err)
		}
	})
}

// TestDenied checks what the agent learns about a call without an answer: a
// timeout, after 300 seconds by default, is not a denial.
func TestDenied(t *testing.T) {
	t.Parallel()
	r, err := askuserquestion.Request([]byte(one))
	if err != nil {
		t.Fatal(err)
	}
	for want, resp := range map[string]bridge.Response{
		"User response timed out after 300 seconds. No one answered in time; no one denied it.": {State: bridge.StateExpired},
		"Declined by ana, without an answer.":                                                   {State: bridge.StateCancelled},
		"No one could be asked: slack: away":                                                    {State: bridge.StateUndeliverable, Reason: "slack: away"},
	} {
		rec := dialecttest.Record(t, r, resp)
		if got := askuserquestion.Deny(rec); got.Behavior != "deny" || got.Message != want {
			t.Errorf("%s: %+v", resp.State, got)
		}
		if s := askuserquestion.Finished(rec); s.Status != "error" || s.Error != want || s.Result != nil {
			t.Errorf("%s: a front end gets %+v", resp.State, s)
		}
	}
}

// TestStatus checks that front ends get a question as the tool sent it.
func TestStatus(t *testing.T) {
	t.Parallel()
	for _, in := range []string{one, two} {
		r, err := askuserquestion.Request([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		s := askuserquestion.Calling(dialecttest.Record(t, r, bridge.Response{}).Interaction)
		got, err := dialect.Encode(s.Arguments)
		if err != nil || string(got) != in {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, in)
		}
		ended := askuserquestion.Finished(dialecttest.Record(t, r, bridge.Response{State: bridge.StateExpired}))
		if ended.Status != "error" || ended.Error == "" || ended.Result != nil {
			t.Errorf("without an answer, it ends as %+v", ended)
		}
	}
}

// TestAnswersOfFrontEnd checks that free text can contain the separator, and
// that every unknown question is named.
func TestAnswersOfFrontEnd(t *testing.T) {
	t.Parallel()
	r, err := askuserquestion.Request([]byte(`{"questions":[{"question":"Which?","multiSelect":true,"options":[{"label":"a, b"},{"label":"c"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	i := dialecttest.Record(t, r, bridge.Response{State: bridge.StateExpired}).Interaction
	id := i.Questions[0].ID
	reply, err := askuserquestion.DecodeAnswers(i, map[string]string{"Which?": "a, b, one thing, and another, of these"})
	if err != nil || reply.Answers[id].String() != bridge.ListAnswer("a, b").String() || reply.Others[id] != "one thing, and another, of these" {
		t.Errorf("%+v, %v", reply, err)
	}
	_, err = askuserquestion.DecodeAnswers(i, map[string]string{"Y?": "1", "X?": "2"})
	names := askuserquestion.AnswerNames(i)
	for field, want := range map[string]string{"answers." + id: `answers["Which?"]`, "answers.x": "answers.x"} {
		if got := names(bridge.FieldError{Field: field}).Field; got != want {
			t.Errorf("%s is named %s, want %s", field, got, want)
		}
	}
	if want := `answers: unknown question "X?"; answers: unknown question "Y?"`; err == nil || bridge.PublicError(err).Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
