package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ParseSchema parses the JSON Schema of a form. It supports what MCP
// elicitation supports: a flat object of strings (with format, length and
// pattern), numbers with bounds, booleans, and single and multiple choices
// (enum, or oneOf and anyOf with const and title). The fields are in the order
// of the properties, and their Part is the name of the property. ParseSchema
// returns CodeInvalid, with the keyword in the message, for anything else.
func ParseSchema(raw json.RawMessage) ([]Field, error) {
	top, err := members("schema", raw, "type", "properties", "required", "title", "description", "additionalProperties", "$schema")
	if err != nil {
		return nil, err
	}
	var kind string
	if err := decode("schema.type", top.get("type"), &kind); err != nil || kind != "object" {
		return nil, Errorf(CodeInvalid, "schema.type: must be \"object\"").WithHint("use one flat object")
	}
	var required []string
	if err := decode("schema.required", top.get("required"), &required); err != nil {
		return nil, err
	}
	if !top.has("properties") {
		return nil, Errorf(CodeInvalid, "schema.properties: required")
	}
	properties, err := members("schema.properties", top.get("properties"))
	if err != nil {
		return nil, err
	}
	if len(properties) == 0 || len(properties) > MaxFields {
		return nil, Errorf(CodeInvalid, "schema.properties: %d properties are out of range (1 to %d)", len(properties), MaxFields)
	}
	for n, name := range required {
		if !properties.has(name) {
			return nil, Errorf(CodeInvalid, "schema.required[%d]: unknown property %q", n, name)
		}
	}
	var out []Field
	for _, p := range properties {
		f, err := property("schema.properties."+p.name, p)
		if err != nil {
			return nil, err
		}
		must := slices.Contains(required, p.name)
		f.Required = &must
		out = append(out, f)
	}
	return out, nil
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

// members parses an object and keeps its order. If names are given, it rejects
// all others.
func members(at string, raw json.RawMessage, known ...string) (memberList, error) {
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
		switch {
		case len(known) > 0 && !slices.Contains(known, name):
			return nil, Errorf(CodeInvalid, "%s.%s: not supported", at, name).WithHint("use only %s", strings.Join(known, ", "))
		case out.has(name):
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
	return out, nil
}

// decode decodes a value that may be missing.
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
	case *bool, **bool:
		return "true or false"
	case *int:
		return "a whole number"
	case **float64:
		return "a number"
	}
	return "a value of the right type"
}

var (
	commonKeywords = []string{"type", "title", "description", "default"}
	typeKeywords   = map[string][]string{
		"string":  {"minLength", "maxLength", "pattern", "format", "enum", "enumNames", "oneOf", "anyOf"},
		"number":  {"minimum", "maximum"},
		"integer": {"minimum", "maximum"},
		"boolean": {},
		"array":   {"items", "minItems", "maxItems", "uniqueItems"},
	}
)

func property(at string, p member) (Field, error) {
	all, err := members(at, p.value)
	if err != nil {
		return Field{}, err
	}
	var kind string
	if err := decode(at+".type", all.get("type"), &kind); err != nil {
		return Field{}, err
	}
	keywords, ok := typeKeywords[kind]
	if !ok {
		return Field{}, Errorf(CodeInvalid, "%s.type: %q is not supported", at, kind).WithHint("use string, number, integer, boolean, or an array of choices")
	}
	if all, err = members(at, p.value, slices.Concat(commonKeywords, keywords)...); err != nil {
		return Field{}, err
	}
	f := Field{Part: p.name}
	f.ID = "p" // replaced once the question is known
	f.Text = p.name
	if err := errors.Join(decode(at+".title", all.get("title"), &f.Text), decode(at+".description", all.get("description"), &f.Description)); err != nil {
		return f, FirstOf(err)
	}
	switch kind {
	case "string":
		err = f.stringType(at, all)
	case "array":
		err = f.arrayType(at, all)
	case "boolean":
		f.Widget, f.boolean = WidgetConfirm, true
		f.Options = []Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
	default:
		f.Widget, f.Integer = WidgetNumber, kind == "integer"
		err = FirstOf(errors.Join(decode(at+".minimum", all.get("minimum"), &f.Min), decode(at+".maximum", all.get("maximum"), &f.Max)))
	}
	if err != nil {
		return f, err
	}
	if d := all.get("default"); d != nil && string(d) != "null" {
		var a Answer
		if err := json.Unmarshal(d, &a); err != nil {
			return f, Errorf(CodeInvalid, "%s.default: invalid value", at)
		}
		a = f.unwrap(a)
		f.Default = &a
	}
	if err := f.normalize(at); err != nil {
		return f, err
	}
	return f, nil
}

// FirstOf returns the first of joined errors, whose message contains the field.
func FirstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

var formats = map[string]Widget{
	"": WidgetText, "email": WidgetEmail, "uri": WidgetURL, "date": WidgetDate, "time": WidgetTime, "date-time": WidgetDateTime,
}

func (f *Field) stringType(at string, all memberList) error {
	options, err := choices(at, all)
	if err != nil {
		return err
	}
	if options != nil {
		f.Widget, f.Options = WidgetSelect, options
		for _, name := range []string{"minLength", "maxLength", "pattern", "format"} {
			if all.has(name) {
				return Errorf(CodeInvalid, "%s.%s: not supported together with choices", at, name)
			}
		}
		return nil
	}
	var format, pattern string
	err = FirstOf(errors.Join(decode(at+".minLength", all.get("minLength"), &f.MinLength), decode(at+".maxLength", all.get("maxLength"), &f.MaxLength),
		decode(at+".format", all.get("format"), &format), decode(at+".pattern", all.get("pattern"), &pattern)))
	if err != nil {
		return err
	}
	widget, ok := formats[format]
	if !ok {
		return Errorf(CodeInvalid, "%s.format: %q is not supported", at, format).WithHint("use email, uri, date, time or date-time")
	}
	f.Widget = widget
	if f.MaxLength > DefaultMaxLength {
		f.MaxLength = DefaultMaxLength // a stricter limit is valid
	}
	if pattern != "" {
		// A schema's pattern may match anywhere in the text.
		f.Pattern, f.PatternHint = `(?s:.*)(?:`+pattern+`)(?s:.*)`, pattern
	}
	return nil
}

func (f *Field) arrayType(at string, all memberList) error {
	if !all.has("items") {
		return Errorf(CodeInvalid, "%s.items: required", at).WithHint("use an array of choices")
	}
	items, err := members(at+".items", all.get("items"), "type", "enum", "enumNames", "anyOf", "oneOf")
	if err != nil {
		return err
	}
	options, err := choices(at+".items", items)
	if err != nil {
		return err
	}
	if options == nil {
		return Errorf(CodeInvalid, "%s.items: enum or anyOf is required", at).WithHint("use an array of choices")
	}
	f.Widget, f.Options = WidgetCheckbox, options
	var unique *bool
	return FirstOf(errors.Join(decode(at+".minItems", all.get("minItems"), &f.MinChoices), decode(at+".maxItems", all.get("maxItems"), &f.MaxChoices),
		decode(at+".uniqueItems", all.get("uniqueItems"), &unique)))
}

// choices returns the options of a property. It returns nil if there are none.
func choices(at string, all memberList) ([]Option, error) {
	var given []string
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		if all.has(name) {
			given = append(given, name)
		}
	}
	switch {
	case len(given) == 0:
		return nil, nil
	case len(given) > 1:
		return nil, Errorf(CodeInvalid, "%s.%s: not allowed together with %s", at, given[1], given[0])
	}
	out := []Option{}
	if given[0] != "enum" {
		var list []json.RawMessage
		if err := decode(at+"."+given[0], all.get(given[0]), &list); err != nil {
			return nil, err
		}
		for n, raw := range list {
			at := fmt.Sprintf("%s.%s[%d]", at, given[0], n)
			m, err := members(at, raw, "const", "title", "description")
			if err != nil {
				return nil, err
			}
			var o Option
			if err := errors.Join(decode(at+".const", m.get("const"), &o.Value), decode(at+".title", m.get("title"), &o.Label), decode(at+".description", m.get("description"), &o.Description)); err != nil {
				return nil, FirstOf(err)
			}
			out = append(out, o)
		}
		return out, nil
	}
	var values, names []string
	if err := FirstOf(errors.Join(decode(at+".enum", all.get("enum"), &values), decode(at+".enumNames", all.get("enumNames"), &names))); err != nil {
		return nil, err
	}
	if len(names) > 0 && len(names) != len(values) {
		return nil, Errorf(CodeInvalid, "%s.enumNames: %d names do not match %d values", at, len(names), len(values))
	}
	for n, v := range values {
		o := Option{Value: v}
		if len(names) > 0 {
			o.Label = names[n]
		}
		out = append(out, o)
	}
	return out, nil
}
