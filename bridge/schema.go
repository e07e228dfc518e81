package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// ParseSchema parses the JSON Schema of a form. It supports an object of
// strings (with format, length and pattern), numbers with bounds, booleans,
// choices of any scalar (enum, const, or oneOf and anyOf with const and title),
// lists of choices and of strings, and one level of objects of these. A property
// can be nullable. The fields are in the order of the properties. The Part of a
// field is the name of its property, or OUTER/INNER for a property of an inner
// object. References to the schema's own definitions are followed, and
// annotations and formats that nod does not know are ignored. ParseSchema returns
// CodeInvalid for anything else, with the path of every keyword that is not
// supported.
func ParseSchema(raw json.RawMessage) ([]Field, error) {
	top, err := members("schema", inlined(raw), objectKeywords...)
	if err != nil {
		return nil, err
	}
	var kind string
	if err := decode("schema.type", top.get("type"), &kind); err != nil || kind != "object" {
		return nil, Errorf(CodeInvalid, "schema.type: must be \"object\"").WithHint("describe the form as an object")
	}
	out, err := objectFields("schema", top, nil)
	if err == nil && len(out) > MaxFields {
		err = Errorf(CodeInvalid, "schema.properties: %d properties are out of range (1 to %d)", len(out), MaxFields)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

var objectKeywords = []string{"type", "properties", "required", "title", "description", "additionalProperties", "$schema"}

// schemaTitle returns the title and the description of a form's schema.
func schemaTitle(raw json.RawMessage) (title, description string) {
	var s struct{ Title, Description string }
	if json.Unmarshal(raw, &s) != nil {
		return "", ""
	}
	return strings.TrimSpace(s.Title), strings.TrimSpace(s.Description)
}

// objectFields returns the fields of an object's properties. In is the outer
// property. It is nil for the form itself.
func objectFields(at string, object memberList, in *group) ([]Field, error) {
	var required []string
	if err := decode(at+".required", object.get("required"), &required); err != nil {
		return nil, err
	}
	if !object.has("properties") {
		return nil, Errorf(CodeInvalid, "%s.properties: required", at)
	}
	properties, err := members(at+".properties", object.get("properties"))
	if err != nil {
		return nil, err
	}
	if len(properties) == 0 {
		return nil, Errorf(CodeInvalid, "%s.properties: 0 properties are out of range (1 to %d)", at, MaxFields)
	}
	var wrong Problems
	for n, name := range required {
		if !properties.has(name) {
			wrong.Add(Errorf(CodeInvalid, "%s.required[%d]: unknown property %q", at, n, name))
		}
	}
	var out []Field
	for _, p := range properties {
		fields, err := property(at+".properties."+p.name, p, in, slices.Contains(required, p.name))
		wrong.Add(err)
		for _, f := range fields {
			if slices.ContainsFunc(out, func(o Field) bool { return o.Part == f.Part }) {
				wrong.Add(Errorf(CodeInvalid, "%s.properties.%s: duplicate name %q", at, p.name, f.Part))
			}
		}
		out = append(out, fields...)
	}
	return out, wrong.Err()
}

// property returns the fields of a property. An inner object has several.
func property(at string, p member, in *group, required bool) ([]Field, error) {
	all, nullable, err := withoutNull(at, p.value)
	if err != nil {
		return nil, err
	}
	kind, err := kindOf(at, all, in)
	if err != nil {
		return nil, err
	}
	if kind == kindObject {
		return innerFields(at, p.name, all, required, nullable)
	}
	if all, err = known(at, all, slices.Concat(commonKeywords, typeKeywords[kind])...); err != nil {
		return nil, err
	}
	f := Field{Part: p.name, nullable: nullable, listed: required, group: in}
	f.ID = "p" // replaced once the question is known
	f.Text = p.name
	must := required && !nullable && (in == nil || in.required())
	f.Required = &must
	if err := f.describe(at, all); err != nil {
		return nil, err
	}
	if err := f.typed(at, kind, all); err != nil {
		return nil, err
	}
	if in != nil {
		f.Part = in.name + "/" + p.name
		f.Text = in.title + ": " + f.Text
		if !in.described {
			in.described = true
			f.Description = strings.TrimSpace(in.description + "\n" + f.Description)
		}
	}
	if err := f.defaultOf(at, all.get("default")); err != nil {
		return nil, err
	}
	if err := f.normalize(at); err != nil {
		return nil, err
	}
	return []Field{f}, nil
}

func (f *Field) describe(at string, all memberList) error {
	return FirstOf(errors.Join(decode(at+".title", all.get("title"), &f.Text),
		decode(at+".description", all.get("description"), &f.Description)))
}

// innerFields returns the fields of an object in a form.
func innerFields(at, name string, all memberList, required, nullable bool) ([]Field, error) {
	all, err := known(at, all, objectKeywords...)
	if err != nil {
		return nil, err
	}
	in := &group{name: name, title: name, listed: required, nullable: nullable}
	err = FirstOf(errors.Join(decode(at+".title", all.get("title"), &in.title),
		decode(at+".description", all.get("description"), &in.description)))
	if err != nil {
		return nil, err
	}
	return objectFields(at, all, in)
}

// defaultOf sets the default of a field. The constraints of the field apply to
// its default.
func (f *Field) defaultOf(at string, raw json.RawMessage) error {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Errorf(CodeInvalid, "%s.default: invalid value", at)
	}
	a = f.unwrap(a)
	if _, problem := f.Check(a, ""); problem != "" {
		return Errorf(CodeInvalid, "%s.default: %s", at, problem)
	}
	f.Default = &a
	return nil
}

type member struct {
	name  string
	value json.RawMessage
}

type memberList []member

func (l memberList) get(name string) json.RawMessage {
	for _, m := range l {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (l memberList) has(name string) bool { return l.get(name) != nil }

// members parses an object and keeps the order of its members. If names are
// given, it rejects all other members.
func members(at string, raw json.RawMessage, names ...string) (memberList, error) {
	bad := Errorf(CodeInvalid, "%s: must be an object", at)
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, bad
	}
	var out memberList
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, bad
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, bad
		}
		if out.has(name) {
			return nil, Errorf(CodeInvalid, "%s.%s: duplicate name", at, name)
		}
		out = append(out, member{name, v})
	}
	if _, err := dec.Token(); err != nil {
		return nil, bad
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bad
	}
	return known(at, out, names...)
}

// assertions are the keywords of JSON Schema that limit values. All other
// keywords are annotations. Parsers ignore annotations that they do not know,
// including unknown values of format.
var assertions = slices.Concat(
	[]string{"type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef"},
	stringAssertions, numberAssertions, arrayAssertions, objectAssertions,
)

var (
	stringAssertions = []string{"minLength", "maxLength", "pattern"}
	numberAssertions = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	arrayAssertions  = []string{
		"items", "additionalItems", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems",
		"unevaluatedItems",
	}
	objectAssertions = []string{
		"properties", "required", "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependencies",
		"dependentRequired", "dependentSchemas", "unevaluatedProperties",
	}
)

func isAssertion(keyword string) bool { return slices.Contains(assertions, keyword) }

// known returns the members unchanged. If names are given, it rejects all other
// assertions.
func known(at string, all memberList, names ...string) (memberList, error) {
	var wrong Problems
	for _, m := range all {
		if len(names) > 0 && isAssertion(m.name) && !slices.Contains(names, m.name) {
			wrong.Add(Errorf(CodeInvalid, "%s.%s: not supported", at, m.name).WithHint("use only %s", strings.Join(names, ", ")))
		}
	}
	return all, wrong.Err()
}

// decode decodes an optional value.
func decode(at string, raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return Errorf(CodeInvalid, "%s: must be %s", at, wanted(v))
	}
	return nil
}

func wanted(v any) string {
	switch v.(type) {
	case *string:
		return "a string"
	case *[]string:
		return "a list of strings"
	case *[]json.RawMessage:
		return "a list"
	case *bool, **bool:
		return "true or false"
	case *int:
		return "a whole number"
	case **float64:
		return "a number"
	}
	return "a value of the right type"
}

// FirstOf returns the first of joined errors, whose message contains the field.
func FirstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
