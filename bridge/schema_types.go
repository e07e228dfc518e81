package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Types of properties. A scalar has only choices, not a type.
const (
	kindString  = "string"
	kindNumber  = "number"
	kindInteger = "integer"
	kindBoolean = "boolean"
	kindArray   = "array"
	kindObject  = "object"
	kindScalar  = ""
)

var (
	commonKeywords = []string{"type", "title", "description", "default"}
	choiceKeywords = []string{"enum", "enumNames", "const", "oneOf", "anyOf"}
	stringKeywords = []string{"minLength", "maxLength", "pattern", "format"}
	typeKeywords   = map[string][]string{
		kindString:  slices.Concat(choiceKeywords, stringKeywords),
		kindNumber:  slices.Concat(choiceKeywords, numberAssertions),
		kindInteger: slices.Concat(choiceKeywords, numberAssertions),
		kindBoolean: choiceKeywords,
		kindArray:   {"items", "minItems", "maxItems", "uniqueItems"},
		kindScalar:  choiceKeywords,
	}
)

// kindOf returns the type of a property. In is the outer property. It may be
// nil.
func kindOf(at string, all memberList, in *group) (string, error) {
	if !all.has("type") && slices.ContainsFunc([]string{"enum", "const", "oneOf", "anyOf"}, all.has) {
		return kindScalar, nil
	}
	var kind string
	if err := decode(at+".type", all.get("type"), &kind); err != nil {
		return "", err
	}
	if _, ok := typeKeywords[kind]; kind != "" && (ok || kind == kindObject && in == nil) {
		return kind, nil
	}
	if kind == kindObject {
		return "", Errorf(CodeInvalid, "%s.type: \"object\" is not supported inside an object", at).WithHint("move its properties one level up")
	}
	return "", Errorf(CodeInvalid, "%s.type: %q is not supported", at, kind).
		WithHint("use string, number, integer, boolean, object, or an array of choices or strings")
}

// typed sets the widget and the constraints of a field.
func (f *Field) typed(at, kind string, all memberList) error {
	options, encoded, err := choices(at, kind, all)
	if err != nil {
		return err
	}
	if options != nil {
		for _, name := range slices.Concat(stringAssertions, numberAssertions) {
			if all.has(name) {
				return Errorf(CodeInvalid, "%s.%s: not supported together with choices", at, name)
			}
		}
		f.Widget, f.Options, f.encoded = WidgetSelect, options, encoded
		return nil
	}
	switch kind {
	case kindString:
		return f.stringType(at, all)
	case kindArray:
		return f.arrayType(at, all)
	case kindBoolean:
		f.Widget, f.encoded = WidgetConfirm, true
		f.Options = []Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
		return nil
	}
	f.Widget, f.Integer = WidgetNumber, kind == kindInteger
	return f.numberType(at, all)
}

var formats = map[string]Widget{
	"": WidgetText, "email": WidgetEmail, "uri": WidgetURL, "date": WidgetDate, "time": WidgetTime, "date-time": WidgetDateTime,
}

func (q *Question) stringType(at string, all memberList) error {
	var format, pattern string
	err := FirstOf(errors.Join(decode(at+".minLength", all.get("minLength"), &q.MinLength), decode(at+".maxLength", all.get("maxLength"), &q.MaxLength),
		decode(at+".format", all.get("format"), &format), decode(at+".pattern", all.get("pattern"), &pattern)))
	if err != nil {
		return err
	}
	q.Widget = WidgetText
	if widget, ok := formats[format]; ok {
		q.Widget = widget
	}
	if q.MaxLength > DefaultMaxLength {
		q.MaxLength = DefaultMaxLength // a stricter limit is valid
	}
	if pattern != "" {
		// A pattern of a schema may match anywhere in the text.
		q.Pattern, q.PatternHint = `(?s:.*)(?:`+pattern+`)(?s:.*)`, pattern
	}
	return nil
}

func (f *Field) arrayType(at string, all memberList) error {
	if !all.has("items") {
		return Errorf(CodeInvalid, "%s.items: required", at).WithHint("use an array of choices or strings")
	}
	items, err := members(at+".items", all.get("items"), slices.Concat(commonKeywords[:3], choiceKeywords, stringKeywords)...)
	if err != nil {
		return err
	}
	var kind string
	if err := decode(at+".items.type", items.get("type"), &kind); err != nil {
		return err
	}
	options, encoded, err := choices(at+".items", kind, items)
	if err != nil {
		return err
	}
	var least, most int
	var unique bool
	err = FirstOf(errors.Join(decode(at+".minItems", all.get("minItems"), &least), decode(at+".maxItems", all.get("maxItems"), &most),
		decode(at+".uniqueItems", all.get("uniqueItems"), &unique)))
	switch {
	case err != nil:
		return err
	case options != nil:
		f.Widget, f.Options, f.encoded, f.MinChoices, f.MaxChoices = WidgetCheckbox, options, encoded, least, most
		return nil
	case kind != kindString:
		return Errorf(CodeInvalid, "%s.items.type: %q is not supported without choices", at, kind).WithHint("use an array of choices or strings")
	case least < 0, most < 0, most > 0 && least > most:
		return Errorf(CodeInvalid, "%s.minItems: %d to %d is not a range", at, least, most)
	}
	each := Question{ID: "p"}
	if err := each.stringType(at+".items", items); err != nil {
		return err
	}
	if err := each.normalize(at + ".items"); err != nil {
		return err
	}
	f.Widget, f.Placeholder = WidgetTextarea, "one per line"
	f.lines = &lines{least: least, most: most, unique: unique, each: each}
	return nil
}

// choices returns the options of a property. It reports whether their values
// are JSON rather than strings. It returns nil if the property has no choices.
func choices(at, kind string, all memberList) ([]Option, bool, error) {
	var given []string
	for _, name := range []string{"enum", "const", "oneOf", "anyOf"} {
		if all.has(name) {
			given = append(given, name)
		}
	}
	switch {
	case len(given) == 0:
		return nil, false, nil
	case len(given) > 1:
		return nil, false, Errorf(CodeInvalid, "%s.%s: not allowed together with %s", at, given[1], given[0])
	}
	values, options, err := listed(at, given[0], all)
	if err != nil {
		return nil, false, err
	}
	encoded := false
	for n, v := range values {
		is := kindOfValue(v)
		if where := fmt.Sprintf("%s.%s[%d]", at, given[0], n); is == "" || !fits(is, kind) {
			if given[0] == "oneOf" || given[0] == "anyOf" {
				where += ".const"
			}
			return nil, false, Errorf(CodeInvalid, "%s: must be %s", where, articled(kind))
		}
		encoded = encoded || is != kindString
	}
	for n, v := range values {
		options[n].hold(v, encoded)
	}
	tellApart(options)
	return options, encoded, nil
}

// hold sets the value of an option: a string or, if encoded, JSON.
func (o *Option) hold(v json.RawMessage, encoded bool) {
	var text string
	isText := json.Unmarshal(v, &text) == nil
	if o.Value = string(v); isText && !encoded {
		o.Value = text
	}
	if isText && encoded && o.Label == "" {
		o.Label = text
	}
}

// listed returns the values of the choices, and their options without values.
func listed(at, keyword string, all memberList) ([]json.RawMessage, []Option, error) {
	var values []json.RawMessage
	if keyword == "const" {
		values = []json.RawMessage{all.get(keyword)}
	} else if err := decode(at+"."+keyword, all.get(keyword), &values); err != nil {
		return nil, nil, err
	}
	options := make([]Option, len(values))
	if keyword == "oneOf" || keyword == "anyOf" {
		for n, raw := range values {
			at := fmt.Sprintf("%s.%s[%d]", at, keyword, n)
			m, err := members(at, raw, "const", "type", "title", "description")
			if err != nil {
				return nil, nil, err
			}
			o := &options[n]
			err = errors.Join(decode(at+".title", m.get("title"), &o.Label), decode(at+".description", m.get("description"), &o.Description))
			if err != nil {
				return nil, nil, FirstOf(err)
			}
			values[n] = m.get("const")
		}
		return values, options, nil
	}
	var names []string
	if err := decode(at+".enumNames", all.get("enumNames"), &names); err != nil {
		return nil, nil, err
	}
	if len(names) > 0 && len(names) != len(values) {
		return nil, nil, Errorf(CodeInvalid, "%s.enumNames: %d names do not match %d values", at, len(names), len(values))
	}
	for n, name := range names {
		options[n].Label = name
	}
	return values, options, nil
}

// kindOfValue returns the type of a scalar, or "" for any other value.
func kindOfValue(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return kindString
	case bool:
		return kindBoolean
	case float64:
		if v == math.Trunc(v) {
			return kindInteger
		}
		return kindNumber
	}
	return ""
}

// fits reports whether a value of one type is allowed for another.
func fits(value, kind string) bool {
	return value == kind || kind == kindScalar || value == kindInteger && kind == kindNumber
}

// articled returns the name of a type with its article, for use in a sentence.
func articled(kind string) string {
	switch kind {
	case kindScalar:
		return "a string, a number, true or false"
	case kindInteger:
		return "an integer"
	case kindBoolean:
		return "true or false"
	}
	return "a " + kind
}

// sameJSON reports whether two scalars are equal. For example, 1 equals 1.0.
func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y float64
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

// compact returns JSON without spaces between its tokens.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// splitLines returns the lines of a text that are not empty.
func splitLines(s string) []string {
	out := []string{}
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
