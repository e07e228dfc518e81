package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

type object = map[string]any

// schema returns the JSON Schema of the config file.
func (r *reference) schema() string {
	root := r.node(reflect.TypeFor[Config](), "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://raw.githubusercontent.com/nodbridge/nod/main/deploy/nod.schema.json"
	root["title"] = "Configuration of nod"
	root["patternProperties"] = object{"^x-": true}
	text := object{"type": "string", "minLength": 1}
	root["$defs"] = object{
		"secret": object{"oneOf": []any{
			text,
			object{"type": "object", "additionalProperties": false, "required": []string{"env"}, "properties": object{"env": text}},
			object{"type": "object", "additionalProperties": false, "required": []string{"file"}, "properties": object{"file": text}},
		}},
		"duration": object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(w|d|h|m|s|ms|us|µs|ns))+$`},
	}
	raw, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw) + "\n"
}

// node returns the schema of a setting.
func (r *reference) node(t reflect.Type, row string) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	l := limitOf(row)
	switch {
	case t == reflect.TypeFor[Secret]():
		return object{"$ref": "#/$defs/secret"}
	case t == reflect.TypeFor[Duration]():
		return object{"$ref": "#/$defs/duration"}
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Struct:
		properties := object{}
		for _, f := range fieldsOf(t) {
			s := r.node(f.Type, below(row, keyOf(f)))
			text, _, _ := strings.Cut(r.docs[t.String()].fields[f.Name], "\n\n")
			s["description"] = strings.ReplaceAll(r.describe(f, below(row, keyOf(f)), text), "`", "")
			properties[keyOf(f)] = s
		}
		return object{"type": "object", "additionalProperties": false, "properties": properties}
	case t.Kind() == reflect.Map:
		entry := r.node(t.Elem(), below(row, "NAME"))
		if entry["type"] == "object" {
			entry["type"] = []string{"object", "null"}
		}
		return object{"type": "object", "minProperties": 1, "additionalProperties": entry}
	case t.Kind() == reflect.Slice:
		item := r.node(t.Elem(), row+"[]")
		list := object{"type": "array", "items": item, "minItems": 1}
		if l.empty {
			list["minItems"] = 0
		}
		if t.Elem().Kind() == reflect.String {
			return object{"oneOf": []any{item, list}}
		}
		return list
	case t.Kind() == reflect.Bool:
		return object{"type": "boolean"}
	case t.Kind() == reflect.Int:
		return object{"type": "integer", "minimum": l.least, "maximum": l.most}
	case l.words != nil:
		return object{"enum": l.words}
	case l.form.Form != nil:
		return object{"type": "string", "pattern": l.form.Form.String()}
	}
	return object{"type": "string", "minLength": 1}
}

// TestSchemaNames checks that the schema has every setting, and that its patterns
// accept the examples of durations.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	r := &reference{t: t, docs: structDocs(t)}
	var s struct {
		Defs struct {
			Duration struct{ Pattern string } `yaml:"duration"`
		} `yaml:"$defs"`
	}
	text := r.schema()
	if err := yaml.Unmarshal([]byte(text), &s); err != nil || s.Defs.Duration.Pattern == "" {
		t.Fatalf("%v %+v", err, s)
	}
	for _, x := range settings(reflect.TypeFor[Config](), "") {
		key := x.row[strings.LastIndex(x.row, ".")+1:]
		if key != "NAME" && !strings.Contains(text, `"`+key+`": {`) {
			t.Errorf("the schema has no %s", x.row)
		}
	}
}
