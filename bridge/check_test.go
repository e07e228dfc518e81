package bridge_test

import (
	"encoding/json"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestNumbers checks the limits of numbers in a form, and what people read.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for schema, c := range map[string]struct {
		hint      string
		good, bad []string
	}{
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":5}`:           {"a number, more than 0, less than 5", []string{"0.1", "4.99", "1e-9"}, []string{"0", "5", "-1", "1e9"}},
		`{"type":"integer","exclusiveMinimum":0,"maximum":3}`:                   {"a whole number, at least 1, at most 3", []string{"1", "3"}, []string{"0", "4", "1.5"}},
		`{"type":"integer","multipleOf":3}`:                                     {"a whole number, a multiple of 3", []string{"0", "9", "-3"}, []string{"1", "4"}},
		`{"type":"number","multipleOf":0.1,"minimum":0}`:                        {"a number, at least 0, a multiple of 0.1", []string{"0.3", "1", "0.30", "2e0"}, []string{"0.35", "-0.1"}},
		`{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":1}`:     {"a number, at most 1, more than 0", []string{"0.1", "1"}, []string{"0"}},
		`{"type":"number","minimum":0,"exclusiveMinimum":false}`:                {"a number, at least 0", []string{"0"}, []string{"-1"}},
		`{"type":"number","multipleOf":1e-300,"exclusiveMaximum":1e300}`:        {"", []string{"0", "1e-300"}, []string{"1e301"}},
		`{"type":["number","null"],"exclusiveMinimum":0,"description":"Price"}`: {"a number, more than 0", []string{"1", ""}, []string{"0"}},
	} {
		form := `{"type":"object","required":["n"],"properties":{"n":` + schema + `}}`
		i := bridge.Interaction{Ask: bridge.Ask{Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: json.RawMessage(form)}}}}
		fields := i.Fields()
		if len(fields) != 1 || c.hint != "" && fields[0].Example() != c.hint {
			t.Errorf("%s: %d fields, hint %q", schema, len(fields), fields[0].Example())
			continue
		}
		for n, all := range [][]string{c.good, c.bad} {
			for _, in := range all {
				resp, problems := i.Respond(&bridge.Draft{Answers: text("n", in)})
				if (len(problems) > 0) != (n == 1) || n == 1 && c.hint != "" && problems[0] != "Enter "+c.hint+"." {
					t.Errorf("%s: %q is %s, %v", schema, in, resp.Answers["q"], problems)
				}
			}
		}
	}
	for _, bad := range []string{`{"type":"number","multipleOf":0}`, `{"type":"number","multipleOf":-1}`, `{"type":"number","multipleOf":"2"}`, `{"type":"number","exclusiveMinimum":"0"}`} {
		if _, err := bridge.ParseSchema(json.RawMessage(`{"type":"object","properties":{"n":` + bad + `}}`)); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestNulls checks that an explicit null stays in the answer to a form, as far as
// the schema allows it, and that nothing else becomes one.
func TestNulls(t *testing.T) {
	t.Parallel()
	const form = `{"type":"object","required":["must"],"properties":{"must":{"type":["string","null"]},"may":{"type":["string","null"]},"n":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":4},` +
		`"pick":{"enum":["x",null]},"tags":{"type":["array","null"],"items":{"type":"string"}},"yes":{"type":"boolean"},"home":{"type":["object","null"],"properties":{"city":{"type":["string","null"]}}}}}`
	i := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindAsk, Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: json.RawMessage(form)}}}}
	for in, want := range map[string]string{
		`{"must":null}`:                              `{"must":null,"n":4}`,
		`{"must":"a","may":null}`:                    `{"must":"a","may":null,"n":4}`,
		`{"must":"a","n":null}`:                      `{"must":"a","n":null}`,
		`{"must":"a","pick":null,"tags":null}`:       `{"must":"a","n":4,"pick":null,"tags":null}`,
		`{"must":"a","yes":null}`:                    `{"must":"a","n":4}`, // which is not a boolean
		`{"must":"a","home":null}`:                   `{"must":"a","n":4,"home":null}`,
		`{"must":"a","home":{"city":null}}`:          `{"must":"a","n":4,"home":{"city":null}}`,
		`{"must":"a","home":{}}`:                     `{"must":"a","n":4}`,
		`{"must":"a","home":{"city":"Rome"}}`:        `{"must":"a","n":4,"home":{"city":"Rome"}}`,
		`{"must":"null","may":"","pick":"x"}`:        `{"must":"null","n":4,"pick":"x"}`,
		`{"must":null,"tags":[],"home":{"city":""}}`: `{"must":null,"n":4,"tags":[]}`,
	} {
		var a bridge.Answer
		if err := json.Unmarshal([]byte(in), &a); err != nil {
			t.Fatal(err)
		}
		given, err := i.Split("answers", map[string]bridge.Answer{"q": a})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		resp, problems := i.Respond(&bridge.Draft{Answers: given})
		if got := resp.Answers["q"].String(); len(problems) > 0 || got != want {
			t.Errorf("%s is %s, %v, want %s", in, got, problems, want)
		}
	}
	var a bridge.Answer
	if err := json.Unmarshal([]byte("null"), &a); err != nil || !a.Empty() || a.String() != "" {
		t.Errorf("null is %+v, %v", a, err)
	}
	plain := bridge.Question{ID: "q", Widget: bridge.WidgetText}
	if _, problem := plain.Check(a, ""); problem == "" {
		t.Error("null answers a question")
	}
}
