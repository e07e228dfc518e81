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
		"schema.properties.a.type: \"object\" is not supported":        object(`"a":{"type":"object"}`),
		"schema.properties.a.type: must be a string":                   object(`"a":{"type":["string","null"]}`),
		"schema.properties.a.$ref: not supported":                      object(`"a":{"type":"string","$ref":"#/x"}`),
		"schema.properties.a: duplicate name":                          object(`"a":{"type":"string"},"a":{"type":"string"}`),
		"schema.properties.a.format: \"ipv4\" is not supported":        object(`"a":{"type":"string","format":"ipv4"}`),
		"schema.properties.a.minimum: must be a number":                object(`"a":{"type":"number","minimum":"1"}`),
		"schema.properties.a.multipleOf: not supported":                object(`"a":{"type":"number","multipleOf":2}`),
		"schema.properties.a.min: greater than max":                    object(`"a":{"type":"number","minimum":3,"maximum":2}`),
		"schema.properties.a.items: required":                          object(`"a":{"type":"array"}`),
		"schema.properties.a.items: enum or anyOf is required":         object(`"a":{"type":"array","items":{"type":"string"}}`),
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
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
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
		p["minimum"], p["maximum"] = rapid.IntRange(-5, 5).Draw(t, "low"), rapid.IntRange(5, 9).Draw(t, "high")
	case 3:
		p["type"] = "boolean"
	case 4:
		p["type"] = "string"
		if rapid.Bool().Draw(t, "oneOf") {
			p["oneOf"] = titled()
		} else {
			p["enum"] = values
		}
	default:
		p["type"], p["items"] = "array", map[string]any{"anyOf": titled()}
		p["minItems"], p["maxItems"] = 0, rapid.IntRange(1, 5).Draw(t, "most")
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
			properties[name] = anyProperty(t)
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
