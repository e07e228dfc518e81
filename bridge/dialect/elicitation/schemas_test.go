package elicitation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// object returns a schema with properties.
func object(properties string) string { return `{"type":"object","properties":{` + properties + `}}` }

// schemas holds forms as the specification of MCP and the libraries of servers
// write them, with the number of fields that people see. Zero means that the form
// is left to the client.
var schemas = []struct {
	name, schema string
	fields       int
}{
	// The examples of the specification.
	{"spec: simple", `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`, 1},
	{"spec: structured", `{"type":"object","properties":{"name":{"type":"string","description":"Your full name"},"email":{"type":"string","format":"email","description":"Your email address"},"age":{"type":"number","minimum":18,"description":"Your age"}},"required":["name","email"]}`, 3},
	{"spec: string", object(`"a":{"type":"string","title":"Display Name","description":"Description text","minLength":3,"maxLength":50,"pattern":"^[A-Za-z]+$","format":"email","default":"user@example.com"}`), 0}, // the default does not match the pattern
	{"spec: string with a fitting default", object(`"a":{"type":"string","title":"Display Name","minLength":3,"maxLength":50,"format":"email","default":"user@example.com"}`), 1},
	{"spec: number", object(`"a":{"type":"number","title":"Display Name","description":"Description text","minimum":0,"maximum":100,"default":50}`), 1},
	{"spec: integer", object(`"a":{"type":"integer","minimum":0,"maximum":100,"default":50}`), 1},
	{"spec: boolean", object(`"a":{"type":"boolean","title":"Display Name","description":"Description text","default":false}`), 1},
	{"spec: choice", object(`"a":{"type":"string","title":"Color Selection","description":"Choose your favorite color","enum":["Red","Green","Blue"],"default":"Red"}`), 1},
	{"spec: titled choice", object(`"a":{"type":"string","oneOf":[{"const":"#FF0000","title":"Red"},{"const":"#00FF00","title":"Green"}],"default":"#FF0000"}`), 1},
	{"spec: choices", object(`"a":{"type":"array","title":"Color Selection","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Red","Green","Blue"]},"default":["Red","Green"]}`), 1},
	{"spec: titled choices", object(`"a":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"#FF0000","title":"Red"},{"const":"#00FF00","title":"Green"}]},"default":["#FF0000"]}`), 1},
	{"spec: names of choices", object(`"a":{"type":"string","enum":["opt1","opt2"],"enumNames":["Option One","Option Two"],"default":"opt1"}`), 1},

	// FastMCP.
	{"FastMCP: no response", `{"type":"object","properties":{}}`, 1},
	{"FastMCP: no response, titled", `{"properties":{},"title":"Empty","type":"object"}`, 1},
	{"FastMCP: a scalar", `{"properties":{"value":{"title":"Value","type":"string"}},"required":["value"],"title":"ScalarElicitationType","type":"object"}`, 1},
	{"FastMCP: a number", `{"properties":{"value":{"title":"Value","type":"integer"}},"required":["value"],"type":"object"}`, 1},
	{"FastMCP: a literal", `{"properties":{"value":{"enum":["low","high"],"title":"Value","type":"string"}},"required":["value"],"type":"object"}`, 1},
	{"FastMCP: titled options", `{"properties":{"value":{"oneOf":[{"const":"low","title":"Low"},{"const":"high","title":"High"}],"type":"string"}},"required":["value"],"type":"object"}`, 1},
	{"FastMCP: several options", `{"properties":{"value":{"type":"array","items":{"enum":["a","b"],"type":"string"}}},"required":["value"],"type":"object"}`, 1},
	{"FastMCP: a data class", `{"properties":{"title":{"title":"Title","type":"string"},"done":{"default":false,"title":"Done","type":"boolean"}},"required":["title"],"title":"Task","type":"object"}`, 2},

	// Spring AI.
	{"Spring AI: int32", object(`"n":{"type":"integer","format":"int32"}`), 1},
	{"Spring AI: a record", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"id":{"type":"integer","format":"int64"},"price":{"type":"number","format":"double"},"rate":{"type":"number","format":"float"},"name":{"type":"string","description":"Name"},"on":{"type":"boolean"}},"required":["id","name"],"additionalProperties":false}`, 5},
	{"Spring AI: an enum", object(`"a":{"type":"string","enum":["A","B"]}`), 1},
	{"Spring AI: a map", object(`"a":{"type":"object","additionalProperties":{"type":"string"}}`), 0},

	// Pydantic.
	{"Pydantic: optional", object(`"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"A"}`), 1},
	{"Pydantic: bounds", object(`"a":{"exclusiveMinimum":0,"maximum":10,"title":"A","type":"integer"},"b":{"exclusiveMaximum":5,"type":"integer"}`), 2},
	{"Pydantic: exclusive bounds of a number", object(`"a":{"exclusiveMinimum":0,"type":"number"}`), 1},
	{"Pydantic: multiple of", object(`"a":{"multipleOf":3,"type":"integer"}`), 1},
	{"Pydantic: examples", object(`"a":{"examples":["x"],"deprecated":true,"readOnly":false,"title":"A","type":"string","x-order":1}`), 1},
	{"Pydantic: formats", object(`"a":{"format":"uuid","type":"string"},"b":{"format":"date","type":"string"},"c":{"format":"duration","type":"string"},"d":{"format":"uri","minLength":1,"maxLength":2083,"type":"string"},"e":{"format":"ipv4","type":"string"},"f":{"format":"binary","type":"string"},"g":{"format":"date-time","type":"string"}`), 7},
	{"Pydantic: an enum", `{"$defs":{"Color":{"enum":["red","green"],"title":"Color","type":"string"}},"properties":{"color":{"$ref":"#/$defs/Color"}},"required":["color"],"title":"M","type":"object"}`, 1},
	{"Pydantic: an enum with a default", `{"$defs":{"Color":{"enum":["red","green"],"title":"Color","type":"string"}},"properties":{"color":{"$ref":"#/$defs/Color","default":"red","description":"Which?"}},"type":"object"}`, 1},
	{"Pydantic 1: an enum with a default", `{"definitions":{"Color":{"enum":["red","green"],"title":"Color","type":"string"}},"properties":{"color":{"allOf":[{"$ref":"#/definitions/Color"}],"default":"red"}},"type":"object"}`, 1},
	{"Pydantic: an optional enum", `{"$defs":{"Color":{"enum":["red","green"],"type":"string"}},"properties":{"color":{"anyOf":[{"$ref":"#/$defs/Color"},{"type":"null"}],"default":null}},"type":"object"}`, 1},
	{"Pydantic: a list of an enum", `{"$defs":{"Color":{"enum":["red","green"],"type":"string"}},"properties":{"colors":{"items":{"$ref":"#/$defs/Color"},"type":"array","uniqueItems":true}},"type":"object"}`, 1},
	{"Pydantic: a model in a model", `{"$defs":{"Address":{"properties":{"street":{"title":"Street","type":"string"},"zip":{"type":"string"}},"required":["street"],"title":"Address","type":"object"}},"properties":{"home":{"$ref":"#/$defs/Address"},"name":{"type":"string"}},"type":"object"}`, 3},
	{"Pydantic: a literal", object(`"a":{"const":"x","title":"A","type":"string"}`), 1},
	{"Pydantic: typed constants", object(`"a":{"anyOf":[{"const":"x","type":"string"},{"const":"y","type":"string"}]}`), 1},
	{"Pydantic: a list of texts", object(`"a":{"items":{"type":"string"},"maxItems":3,"type":"array"}`), 1},
	{"Pydantic: a list of numbers", object(`"a":{"items":{"type":"integer"},"type":"array"}`), 0},
	{"Pydantic: a list of models", `{"$defs":{"A":{"properties":{"b":{"type":"string"}},"type":"object"}},"properties":{"a":{"items":{"$ref":"#/$defs/A"},"type":"array"}},"type":"object"}`, 0},
	{"Pydantic: a tuple", object(`"a":{"maxItems":2,"minItems":2,"prefixItems":[{"type":"string"},{"type":"integer"}],"type":"array"}`), 0},
	{"Pydantic: a map", object(`"a":{"additionalProperties":{"type":"integer"},"type":"object"}`), 0},
	{"Pydantic: any", object(`"a":{"title":"A"}`), 0},
	{"Pydantic: a union", object(`"a":{"anyOf":[{"type":"integer"},{"type":"string"}]}`), 0},
	{"Pydantic: a decimal", object(`"a":{"anyOf":[{"type":"number"},{"pattern":"^[0-9.]+$","type":"string"}]}`), 0},
	{"Pydantic: a secret", object(`"a":{"format":"password","type":"string","writeOnly":true}`), 0},
	{"Pydantic: a secret in a model", `{"$defs":{"A":{"properties":{"password":{"type":"string"}},"type":"object"}},"properties":{"a":{"$ref":"#/$defs/A"}},"type":"object"}`, 0},
	{"Pydantic: a model that contains itself", `{"$defs":{"T":{"properties":{"t":{"$ref":"#/$defs/T"}},"type":"object"}},"properties":{"t":{"$ref":"#/$defs/T"}},"type":"object"}`, 0},

	// Other shapes.
	{"no schema", `null`, 1},
	{"only the type", `{"type":"object"}`, 1},
	{"a pattern of another dialect", object(`"a":{"type":"string","pattern":"(?=x)"}`), 0},
	{"conditions", `{"type":"object","properties":{"a":{"type":"string"}},"if":{"properties":{"a":{"const":"x"}}},"then":{"required":["b"]}}`, 0},
	{"a reference to elsewhere", object(`"a":{"$ref":"https://example.com/a.json"}`), 0},
	{"a contradiction", `{"$defs":{"A":{"type":"string","maxLength":3}},"properties":{"a":{"$ref":"#/$defs/A","maxLength":5}},"type":"object"}`, 0},
	{"not an object", `{"type":"string"}`, 0},
	{"a required property that is missing", `{"type":"object","properties":{},"required":["a"]}`, 0},
}

// TestSchemas checks that each form is shown in full or left to the client, and
// that it is never answered in the name of a person.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range schemas {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := elicitation.Request(elicitation.Params{Message: "Please", RequestedSchema: json.RawMessage(c.schema)}, "")
			if err == nil {
				err = r.Normalize()
			}
			if code := bridge.ErrorCode(err); err != nil && code != bridge.CodeInvalid && code != bridge.CodeUnsupported {
				t.Fatal(err)
			}
			fields := 0
			if err == nil {
				fields = len((bridge.Interaction{Ask: r.Ask}).Fields())
			}
			if fields != c.fields {
				t.Errorf("%d fields, %v, want %d", fields, err, c.fields)
			}
		})
	}
}

// TestNoProperties checks that a form without properties is its message, which
// people accept or decline.
func TestNoProperties(t *testing.T) {
	t.Parallel()
	x := exchange(t, `{"message":"Delete all?","requestedSchema":{"type":"object","properties":{}}}`)
	q := x.Request.Questions[0]
	if !x.Request.Declinable || q.Widget != bridge.WidgetButtons || len(q.Options) != 1 || q.Options[0].Label != "Accept" {
		t.Errorf("it asks %+v", x.Request)
	}
	if got := ended(t, x, bridge.Response{Answers: map[string]bridge.Answer{q.ID: bridge.TextAnswer(q.Options[0].Value)}}); got != `{"action":"accept","content":{}}` {
		t.Errorf("accepted: %s", got)
	}
	if got := ended(t, x, bridge.Response{State: bridge.StateCancelled}); got != `{"action":"decline"}` {
		t.Errorf("declined: %s", got)
	}
}

// TestDefinitionsDoNotExplode checks that definitions that refer to each other many
// times do not need much memory.
func TestDefinitionsDoNotExplode(t *testing.T) {
	t.Parallel()
	var defs []string
	for n := range 20 {
		next := `{"$ref":"#/$defs/d` + string(rune('b'+n)) + `"}`
		defs = append(defs, `"d`+string(rune('a'+n))+`":{"anyOf":[`+strings.Repeat(next+",", 20)+next+`]}`)
	}
	schema := `{"$defs":{` + strings.Join(defs, ",") + `},"type":"object","properties":{"a":{"$ref":"#/$defs/da"}}}`
	if _, err := bridge.ParseSchema(json.RawMessage(schema)); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("%.300v", err)
	}
}
