package bridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
)

// TestSchemaRefuses checks that each unsupported schema is rejected with an error
// that names the keyword.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	object := func(properties string) string { return `{"type":"object","properties":{` + properties + `}}` }
	for want, schema := range map[string]string{
		"schema: must be an object":                                    `[]`,
		"schema.type: must be \"object\"":                              `{"type":"string"}`,
		"schema.allOf: not supported":                                  `{"type":"object","allOf":[]}`,
		"schema.properties: required":                                  `{"type":"object"}`,
		"schema.properties: 0 properties are out of range":             object(``),
		"schema.required[0]: unknown property \"b\"":                   `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`,
		"schema.properties.a.properties: required":                     object(`"a":{"type":"object"}`),
		"schema.properties.a.properties.b.type: \"object\" is not":     object(`"a":{"type":"object","properties":{"b":{"type":"object"}}}`),
		"schema.properties.a.properties.b.$ref: not supported":         object(`"a":{"type":"object","properties":{"b":{"type":"string","$ref":"x"}}}`),
		"schema.properties.a/b: duplicate name":                        object(`"a":{"type":"object","properties":{"b":{"type":"string"}}},"a/b":{"type":"string"}`),
		"schema.properties.a.type: 2 types are not supported":          object(`"a":{"type":["string","number","null"]}`),
		"schema.properties.a.type: \"\" is not supported":              object(`"a":{"title":"A"}`),
		"schema.properties.a.enum[1]: must be an integer":              object(`"a":{"type":"integer","enum":[1,1.5]}`),
		"schema.properties.a.enum[0]: must be a string, a number":      object(`"a":{"enum":[{}]}`),
		"schema.properties.a.const: not allowed together with enum":    object(`"a":{"enum":[1],"const":1}`),
		"schema.properties.a.minimum: not supported together":          object(`"a":{"type":"integer","enum":[1],"minimum":1}`),
		"schema.properties.a.$ref: not supported":                      object(`"a":{"type":"string","$ref":"#/x"}`),
		"schema.properties.a: duplicate name":                          object(`"a":{"type":"string"},"a":{"type":"string"}`),
		"schema.properties.a.minimum: must be a number":                object(`"a":{"type":"number","minimum":"1"}`),
		"schema.properties.a.multipleOf: must be more than 0":          object(`"a":{"type":"number","multipleOf":0}`),
		"schema.properties.a.min: greater than max":                    object(`"a":{"type":"number","minimum":3,"maximum":2}`),
		"schema.properties.a.items: required":                          object(`"a":{"type":"array"}`),
		"schema.properties.a.items.type: \"integer\" is not supported": object(`"a":{"type":"array","items":{"type":"integer"}}`),
		"schema.properties.a.minItems: 3 to 2 is not a range":          object(`"a":{"type":"array","items":{"type":"string"},"minItems":3,"maxItems":2}`),
		"a.pattern: not supported; schema.properties.b.not: not":       object(`"a":{"type":"number","pattern":"2"},"b":{"type":"string","not":{}}`),
		"schema.properties.a.items.items: not supported":               object(`"a":{"type":"array","items":{"type":"array","items":{}}}`),
		"schema.properties.a.oneOf[0].const: must be a string":         object(`"a":{"type":"string","oneOf":[{"const":1}]}`),
		"schema.properties.a.enumNames: 1 names do not match 2 values": object(`"a":{"type":"string","enum":["x","y"],"enumNames":["X"]}`),
		"schema.properties.a.oneOf: not allowed together with enum":    object(`"a":{"type":"string","enum":["x"],"oneOf":[{"const":"x"}]}`),
		"schema.properties.a.default: That is not one":                 object(`"a":{"type":"string","enum":["x"],"default":"y"}`),
		"schema.properties.a.default: Enter a whole number":            object(`"a":{"type":"integer","default":1.5}`),
		"schema.properties.a.pattern: invalid RE2":                     object(`"a":{"type":"string","pattern":"(?=x)"}`),
	} {
		if _, err := bridge.ParseSchema(json.RawMessage(schema)); err == nil || !strings.Contains(err.Error(), want) || bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}

// anyProperty draws a property of the supported subset.
func anyProperty(t *rapid.T) map[string]any {
	p := map[string]any{}
	if rapid.Bool().Draw(t, "titled") {
		p["title"] = rapid.StringMatching(`[A-Za-z ]{1,12}[a-z]`).Draw(t, "title")
	}
	values := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,6}`), 1, 5, func(s string) string { return s }).Draw(t, "values")
	titled := func() []any {
		var out []any
		for _, v := range values {
			out = append(out, map[string]any{"const": v, "title": strings.ToUpper(v)})
		}
		return out
	}
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		p["type"] = "string"
		p["minLength"] = rapid.IntRange(0, 4).Draw(t, "min")
		p["maxLength"] = rapid.IntRange(4, 20).Draw(t, "max")
		if rapid.Bool().Draw(t, "pattern") {
			p["pattern"] = "[a-f]"
		}
	case 1:
		p["type"], p["format"] = "string", rapid.SampledFrom([]string{"email", "uri", "date", "date-time"}).Draw(t, "format")
	case 2:
		p["type"] = rapid.SampledFrom([]string{"number", "integer"}).Draw(t, "number")
		p[rapid.SampledFrom([]string{"minimum", "exclusiveMinimum"}).Draw(t, "lower")] = rapid.IntRange(-5, 5).Draw(t, "low")
		p[rapid.SampledFrom([]string{"maximum", "exclusiveMaximum"}).Draw(t, "upper")] = rapid.IntRange(7, 9).Draw(t, "high")
		if rapid.Bool().Draw(t, "steps") {
			p["multipleOf"] = rapid.SampledFrom([]float64{1, 0.5, 3}).Draw(t, "step")
		}
	case 3:
		p["type"] = "boolean"
	case 4:
		p["type"] = "string"
		if rapid.Bool().Draw(t, "oneOf") {
			p["oneOf"] = titled()
		} else {
			p["enum"] = values
		}
	case 5:
		p["type"], p["enum"] = "integer", []int{1, 2, 3}
	case 6:
		p["enum"] = []any{"1", 1, 2.5, true}
	case 7:
		p["type"], p["items"] = "array", map[string]any{"type": "string", "maxLength": 5}
		p["minItems"], p["uniqueItems"] = rapid.IntRange(0, 2).Draw(t, "least"), true
	default:
		p["type"], p["items"] = "array", map[string]any{"anyOf": titled()}
		if rapid.Bool().Draw(t, "numbers") {
			p["items"] = map[string]any{"enum": []any{1, 2, "x"}}
		}
		p["minItems"], p["maxItems"] = 0, rapid.IntRange(1, 5).Draw(t, "most")
	}
	if kind, ok := p["type"]; ok && p["enum"] == nil && rapid.Bool().Draw(t, "nullable") {
		p["type"] = []any{kind, "null"}
	}
	return p
}

// anyInner draws an object inside a form.
func anyInner(t *rapid.T) map[string]any {
	p := map[string]any{"type": "object", "properties": map[string]any{"x": anyProperty(t), "y": anyProperty(t)}}
	if rapid.Bool().Draw(t, "inner required") {
		p["required"] = []string{"y"}
	}
	if rapid.Bool().Draw(t, "inner nullable") {
		p["type"] = []any{"object", "null"}
	}
	return p
}

var typedSamples = []string{
	"", "a", "abcdef", "x y", "12", "-3", "7.5", "1e2", "true", "2026-11-21", "2026-13-01", "ana@example.com", "ana", "https://example.com/x?y=1", "no url",
	"2026-11-21T14:30:00Z", "two\nlines", "ÄÖÜ 😀😀😀😀",
}

// TestFormAnswersAreValid checks with an independent validator that every
// accepted answer to a form is valid under its schema.
func TestFormAnswersAreValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		properties, required := map[string]any{}, []string{}
		for n := range rapid.IntRange(1, 6).Draw(t, "fields") {
			name := fmt.Sprintf("f%d", n)
			if properties[name] = anyProperty(t); rapid.IntRange(0, 4).Draw(t, "inner") == 0 {
				properties[name] = anyInner(t)
			}
			if rapid.Bool().Draw(t, "required") {
				required = append(required, name)
			}
		}
		schema := map[string]any{"type": "object", "properties": properties, "required": required}
		raw, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		r := bridge.Request{Ask: bridge.Ask{
			Prompt: "?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: raw}},
		}}
		if err := r.Normalize(); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		i := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindAsk, Questions: r.Questions}}
		resp, problems := i.Respond(anyDraft(t, i))
		if len(problems) > 0 {
			return
		}
		if err := validate(t, raw, resp.Answers["q"].String()); err != nil {
			t.Errorf("%s under %s: %v", resp.Answers["q"], raw, err)
		}
		// The answer can be sent in one piece, as by another front end.
		again, err := i.Split("answers", resp.Answers)
		if err != nil {
			t.Fatalf("%s: %v", resp.Answers["q"], err)
		}
		same, problems := i.Respond(&bridge.Draft{Answers: again})
		if len(problems) > 0 || same.Answers["q"].String() != resp.Answers["q"].String() {
			t.Errorf("%s sent under %s is %s, %v", resp.Answers["q"], raw, same.Answers["q"], problems)
		}
	})
}

// anyDraft fills in the fields of an interaction, sometimes with invalid
// values.
func anyDraft(t *rapid.T, i bridge.Interaction) *bridge.Draft {
	d := &bridge.Draft{Answers: map[string]bridge.Answer{}}
	for _, f := range i.Fields() {
		switch {
		case f.FreeText():
			d.Answers[f.ID] = bridge.TextAnswer(rapid.SampledFrom(typedSamples).Draw(t, f.ID))
		case f.Multiple():
			var chosen []string
			for _, o := range f.Options {
				if rapid.Bool().Draw(t, "chosen") {
					chosen = append(chosen, o.Value)
				}
			}
			d.Answers[f.ID] = bridge.ListAnswer(chosen...)
		case rapid.Bool().Draw(t, "given"):
			d.Answers[f.ID] = bridge.TextAnswer(rapid.SampledFrom(f.Options).Draw(t, "option").Value)
		}
	}
	return d
}

// validate returns an error unless a JSON value is valid under a schema.
func validate(t *rapid.T, schema []byte, value string) error {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("form.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("form.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(v)
}

func FuzzParseSchema(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"type":"string","format":"email"},"b":{"type":"array","items":{"enum":["x"]},"maxItems":1},"c":{"type":"integer","minimum":1},"d":{"type":"boolean","default":true}}}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]+$","oneOf":[{"const":"x","title":"X"}]}}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		r := bridge.Request{Ask: bridge.Ask{
			Prompt: "?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: json.RawMessage(raw)}},
		}}
		if r.Normalize() != nil {
			return
		}
		i := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindAsk, Questions: r.Questions}}
		if len(i.Fields()) == 0 {
			t.Error("a form without fields was accepted")
		}
		_, _ = i.Respond(nil) // must not panic
	})
}

// TestSchemaSubset checks for each kind of property what people type or choose,
// what they read, and the JSON value that the agent gets.
func TestSchemaSubset(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		schema, reads string
		draft         map[string]bridge.Answer
		want          string
	}{
		"integer enum":  {`{"type":"integer","enum":[1,2]}`, "1 2", text("a", "2"), `{"a":2}`},
		"mixed enum":    {`{"enum":["1",1,2.5,true]}`, "1 (\"1\") 1 2.5 true", text("a", `"1"`), `{"a":"1"}`},
		"titled const":  {`{"oneOf":[{"const":1,"title":"One"},{"const":2,"title":"Two","description":"more"}]}`, "One Two", text("a", "1"), `{"a":1}`},
		"enum names":    {`{"type":"number","enum":[0.5],"enumNames":["Half"]}`, "Half", text("a", "0.5"), `{"a":0.5}`},
		"const":         {`{"const":true}`, "true", text("a", "true"), `{"a":true}`},
		"boolean":       {`{"type":"boolean"}`, "Yes No", text("a", "false"), `{"a":false}`},
		"null type":     {`{"type":["string","null"]}`, "", nil, `{"a":null}`},
		"nullable":      {`{"type":"integer","nullable":true}`, "", text("a", "7"), `{"a":7}`},
		"null branch":   {`{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}],"default":4}`, "", nil, `{"a":4}`},
		"null in enum":  {`{"enum":["x",null]}`, "x", nil, `{"a":null}`},
		"null in oneOf": {`{"oneOf":[{"const":"x","title":"X"},{"const":null}]}`, "X", nil, `{"a":null}`},
		"list":          {`{"type":"array","items":{"type":"string"}}`, "", text("a", "one\n\n two \n"), `{"a":["one","two"]}`},
		"list, default": {`{"type":"array","items":{"type":"string"},"default":["x","y"]}`, "", nil, `{"a":["x","y"]}`},
		"integer list":  {`{"type":"array","items":{"type":"integer","enum":[1,2,3]}}`, "1 2 3", map[string]bridge.Answer{"q/a": bridge.ListAnswer("3", "1")}, `{"a":[1,3]}`},
		"object": {
			`{"type":"object","title":"Home","description":"Where?","required":["city"],"properties":{"city":{"type":"string"},"zip":{"type":"integer"}}}`, "",
			map[string]bridge.Answer{"q/a/city": bridge.TextAnswer("Rome"), "q/a/zip": bridge.TextAnswer("10")}, `{"a":{"city":"Rome","zip":10}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := `{"type":"object","required":["a"],"properties":{"a":` + x.schema + `}}`
			r := bridge.Request{Ask: bridge.Ask{Prompt: "?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: json.RawMessage(schema)}}}}
			if err := r.Normalize(); err != nil {
				t.Fatal(err)
			}
			i := bridge.Interaction{Ask: r.Ask}
			var reads []string
			for _, o := range i.Fields()[0].Options {
				reads = append(reads, o.Text())
			}
			resp, problems := i.Respond(&bridge.Draft{Answers: x.draft})
			if got := resp.Answers["q"].String(); len(problems) > 0 || got != x.want || strings.Join(reads, " ") != x.reads {
				t.Errorf("%s, problems %v, options %q; want %s and %s", got, problems, reads, x.want, x.reads)
			}
		})
	}
}

func text(part, value string) map[string]bridge.Answer {
	return map[string]bridge.Answer{"q/" + part: bridge.TextAnswer(value)}
}

// TestInnerObject checks that an optional object is omitted, or complete, and
// that people read its title and description.
func TestInnerObject(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","title":"Trip","description":"All of it","properties":{"to":{"type":"object","title":"Home","description":"Where?","required":["city"],"properties":{"city":{"type":"string","description":"Any"},"zip":{"type":"integer"}}}}}`
	q := bridge.Question{ID: "q", Widget: bridge.WidgetForm, Schema: json.RawMessage(schema)}
	i := bridge.Interaction{Ask: bridge.Ask{Questions: []bridge.Question{q}}}
	if title, about := q.Heading(); title != "Trip" || about != "All of it" {
		t.Errorf("the form is %q, %q", title, about)
	}
	if f := i.Fields()[0]; f.Text != "Home: city" || f.Description != "Where?\nAny" || f.IsRequired() {
		t.Errorf("the first field is %+v", f)
	}
	if resp, problems := i.Respond(nil); len(problems) > 0 || resp.Answers["q"].String() != "{}" {
		t.Errorf("empty: %s, %v", resp.Answers["q"], problems)
	}
	if _, problems := i.Respond(&bridge.Draft{Answers: text("to/zip", "10")}); problems[0] != "Enter an answer, or leave all of Home empty." {
		t.Errorf("incomplete: %v", problems)
	}
}

// TestLines checks the problems with a list of texts.
func TestLines(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"a":{"type":"array","minItems":2,"maxItems":3,"uniqueItems":true,"items":{"type":"string","format":"email"}}}}`
	i := bridge.Interaction{Ask: bridge.Ask{Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: json.RawMessage(schema)}}}}
	for in, want := range map[string]string{
		"": "", "a@b.c\nd@e.f": "", "a@b.c\nno": "Line 2: Enter an email address such as name@example.com.",
		"a@b.c\na@b.c": "Line 2 repeats an earlier one.", "a@b.c": "Enter at least 2, one per line.",
		"a@b.c\nb@b.c\nc@b.c\nd@b.c": "Enter at most 3, one per line.",
	} {
		if _, problems := i.Respond(&bridge.Draft{Answers: text("a", in)}); problems[0] != want {
			t.Errorf("%q: %v, want %q", in, problems, want)
		}
	}
}

// TestEveryMistake checks that all mistakes of a draft are found, even in
// several composite questions.
func TestEveryMistake(t *testing.T) {
	t.Parallel()
	form := json.RawMessage(`{"type":"object","required":["name","age"],"properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":18},"mail":{"type":"string","format":"email"}}}`)
	i := bridge.Interaction{Ask: bridge.Ask{Questions: []bridge.Question{
		{ID: "q", Widget: bridge.WidgetForm, Schema: form}, {ID: "p", Widget: bridge.WidgetPlanReview, Plan: "# Plan"},
	}}}
	_, problems := i.Respond(&bridge.Draft{Answers: map[string]bridge.Answer{"q/age": bridge.TextAnswer("17"), "q/mail": bridge.TextAnswer("x")}})
	if len(problems) != 4 {
		t.Errorf("%v, want 4 problems", problems)
	}
}
