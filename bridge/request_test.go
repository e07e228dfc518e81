package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

func TestNormalizeRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70<<10)
	for want, body := range map[string]string{
		"prompt: required":                                 `{"prompt":"  "}`,
		"prompt: 71680 bytes":                              `{"prompt":"` + long + `"}`,
		"control character U+0000":                         `{"prompt":"a\u0000b"}`,
		"kind: unknown":                                    `{"prompt":"x","kind":"poll"}`,
		`unknown widget "slider"`:                          `{"prompt":"x","questions":[{"widget":"slider"}]}`,
		"widget: required":                                 `{"prompt":"x","questions":[{}]}`,
		"options: required for radio":                      `{"prompt":"x","questions":[{"widget":"radio"}]}`,
		"options: confirm requires exactly 2":              `{"prompt":"x","questions":[{"widget":"confirm","options":[{"value":"a"}]}]}`,
		"options[1].value: duplicate value \"a\"":          `{"prompt":"x","questions":[{"widget":"radio","options":[{"value":"a"},{"value":"a"}]}]}`,
		"header: too long (at most 12 ":                    `{"prompt":"x","questions":[{"widget":"text","header":"thirteen chars"}]}`,
		"questions[1].id: duplicate ID \"a\"":              `{"prompt":"x","questions":[{"id":"a","text":"?","widget":"text"},{"id":"a","text":"?","widget":"text"}]}`,
		"questions[1].text: required":                      `{"prompt":"x","questions":[{"text":"?","widget":"text"},{"widget":"text"}]}`,
		"pattern: invalid RE2":                             `{"prompt":"x","questions":[{"widget":"text","pattern":"("}]}`,
		"default: That is not one":                         `{"prompt":"x","questions":[{"widget":"radio","options":[{"value":"a"}],"default":"b"}]}`,
		"options and allow_other are not allowed for text": `{"prompt":"x","questions":[{"widget":"text","options":[{"value":"a"}]}]}`,
		"questions: not allowed for an approval":           `{"prompt":"x","approval":{},"questions":[{"widget":"text"}]}`,
		"scopes[0]: unknown scope":                         `{"prompt":"x","approval":{"scopes":["forever"]}}`,
		"scope session requires a session":                 `{"prompt":"x","approval":{"scopes":["session"]}}`,
		"timeout: 500ms":                                   `{"prompt":"x","timeout":0.5}`,
		"deny is only allowed for approvals":               `{"prompt":"x","on_timeout":"deny"}`,
		"default: required":                                `{"prompt":"x","on_timeout":"default"}`,
	} {
		var r bridge.Request
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(r)
		err := r.Normalize()
		if bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", body, err, want)
		}
		if after, _ := json.Marshal(r); string(after) != string(before) {
			t.Errorf("%.80s: was changed", body)
		}
	}
}

func TestNormalizeFills(t *testing.T) {
	t.Parallel()
	r := bridge.Request{Ask: bridge.Ask{Prompt: "x"}}
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	q := r.Questions[0]
	if r.Kind != bridge.KindAsk || q.Widget != bridge.WidgetConfirm || q.Options[0].Text() != "Yes" || time.Duration(r.Timeout) != 5*time.Minute || r.OnTimeout != bridge.OnTimeoutExpire {
		t.Errorf("%+v", r)
	}
	a := bridge.Request{Ask: bridge.Ask{
		Prompt: "x", Session: "s", Approval: &bridge.Approval{Input: []byte("{ \"b\" : 1 }")},
	}}
	if err := a.Normalize(); err != nil {
		t.Fatal(err)
	}
	if a.Kind != bridge.KindApproval || len(a.Approval.Scopes) != 2 || string(a.Approval.Input) != `{"b":1}` {
		t.Errorf("%+v", a.Approval)
	}
}

func TestCheckAnswers(t *testing.T) {
	t.Parallel()
	no := false
	choice := bridge.Question{Widget: bridge.WidgetRadio, Options: []bridge.Option{{Value: "a"}, {Value: "b"}}}
	many := bridge.Question{Widget: bridge.WidgetCheckbox, Options: choice.Options, AllowOther: true}
	optional := many
	optional.Required = &no
	text := bridge.Question{Widget: bridge.WidgetText, MinLength: 2, MaxLength: 4, Pattern: "[a-z]+"}
	for _, c := range []struct {
		q       bridge.Question
		a       bridge.Answer
		other   string
		want    string
		problem string
	}{
		{choice, bridge.TextAnswer("a"), "", "a", ""},
		{choice, bridge.TextAnswer("c"), "", "", "not one of the options"},
		{choice, bridge.ListAnswer("a", "b"), "", "", "only one"},
		{choice, bridge.Answer{}, "", "", "Choose one first"},
		{choice, bridge.Answer{}, "c", "", "Only the given options"},
		{many, bridge.ListAnswer("b", "a", "b"), "", "a,b", ""},
		{many, bridge.ListAnswer("a"), " c ", "a,c", ""},
		{many, bridge.ListAnswer(), "", "", "at least one"},
		{optional, bridge.ListAnswer(), "", "", ""},
		{text, bridge.TextAnswer("abc"), "", "abc", ""},
		{text, bridge.TextAnswer("a"), "", "", "at least 2"},
		{text, bridge.TextAnswer("abcde"), "", "", "at most 4"},
		{text, bridge.TextAnswer("AB"), "", "", "required format"},
		{text, bridge.TextAnswer("a\nb"), "", "", "single line"},
		{text, bridge.TextAnswer(""), "", "", "Enter an answer"},
	} {
		got, problem := c.q.Check(c.a, c.other)
		if got.String() != c.want || (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s %v %q: got %q %q, want %q %q", c.q.Widget, c.a, c.other, got, problem, c.want, c.problem)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := bridge.ParseID(string(id)); err != nil || back != id {
		t.Errorf("%s: %v", back, err)
	}
	for _, bad := range []string{"", "x", "0193b3c4-7d5e-4a10-8f00-2b6d0c9e4f03", "{0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03}", "0193b3c47d5e7a108f002b6d0c9e4f03"} {
		if _, err := bridge.ParseID(bad); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"prompt":"x","questions":[{"widget":"radio","options":[{"value":"a"}],"default":["a"]}],"timeout":"5m"}`))
	f.Add([]byte(`{"prompt":"x","approval":{"input":{"a":[1,2]},"scopes":["once"]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r bridge.Request
		if json.Unmarshal(body, &r) != nil || r.Normalize() != nil {
			return
		}
		again := r
		if err := again.Normalize(); err != nil {
			t.Errorf("a normalized request is rejected: %v", err)
		}
	})
}
