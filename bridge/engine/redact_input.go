package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
)

// input redacts the values in the input of an approval.
func (v *redaction) input(a *bridge.Approval, fields []string) {
	if len(a.Input) == 0 {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(a.Input))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) != nil {
		return // unreachable, because Normalize has checked it
	}
	before := v.hidden
	tree = v.tree(tree, nil, fields)
	if v.hidden == before {
		return // keep the original bytes
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(tree) == nil { // encoding a decoded value never fails
		a.Input = bytes.TrimSpace(b.Bytes())
	}
}

// hiddenValue returns the replacement of a completely redacted value.
func hiddenValue(s string) string {
	return fmt.Sprintf("[redacted value, %d characters]", utf8.RuneCountInString(s))
}

// describing lists the input fields that describe a call or carry its data. A
// redacted value in any other field may be part of the executed input.
var describing = []string{
	"description", "reason", "title", "summary", "message", "body", "content", "text", "comment", "note", "headers", "env", "environment",
	"diff", "patch", "new_string", "old_string", "new_source", "data", "prompt",
}

// executing lists the input fields that are executed, even within a describing
// field.
var executing = []string{"command", "commands", "cmd", "argv", "args", "script", "program", "code", "query", "sql"}

// describes reports whether the field at a path describes the call. The
// innermost name in one of the lists decides.
func describes(path []string) bool {
	for _, name := range slices.Backward(path) {
		name = strings.ToLower(name)
		if slices.Contains(describing, name) || slices.Contains(executing, name) {
			return slices.Contains(describing, name)
		}
	}
	return false
}

// tree redacts a JSON value: fields by their name or path, and credentials in
// any text. It keeps the number of members and of elements.
func (v *redaction) tree(t any, path, fields []string) any {
	switch x := t.(type) {
	case map[string]any:
		return v.object(x, path, fields)
	case []any:
		return v.list(x, path, fields)
	case string:
		return v.leaf(x, v.r.Redact(x), path)
	case json.Number:
		return v.leaf(x, v.r.Redact(x.String()), path)
	}
	return t
}

// leaf returns the form of a value that people see.
func (v *redaction) leaf(value any, shown string, path []string) any {
	if fmt.Sprint(value) == shown {
		return value
	}
	v.hidden++
	if !describes(path) {
		v.executed++
	}
	return shown
}

// whole redacts the texts and numbers of a value with a secret name. Objects in
// the value are redacted in the usual way.
func (v *redaction) whole(value any, path, fields []string) any {
	switch x := value.(type) {
	case string:
		if x == "" {
			return x
		}
		v.hidden++
		return hiddenValue(x)
	case json.Number:
		if len(x) < 4 {
			return x
		}
		v.hidden++
		return hiddenValue(x.String())
	case []any:
		out := make([]any, len(x))
		for n := range x {
			out[n] = v.whole(x[n], path, fields)
		}
		return out
	case map[string]any:
		return v.object(x, path, fields)
	}
	return value
}

func (v *redaction) object(x map[string]any, path, fields []string) map[string]any {
	out := make(map[string]any, len(x))
	pair := v.secretPair(x)
	for _, name := range slices.Sorted(maps.Keys(x)) {
		inner := append(slices.Clone(path), name)
		value := x[name]
		switch {
		case slices.Contains(fields, strings.Join(inner, ".")):
			v.hidden++
			raw, _ := json.Marshal(value) // encoding a decoded value never fails
			if s, ok := value.(string); ok {
				raw = []byte(s)
			}
			value = hiddenValue(string(raw))
			if !describes(inner) && executes(name) {
				v.executed++
			}
		case name == pair:
			value = v.whole(value, inner, fields)
		case v.r.Secret(name):
			before := v.hidden
			if value = v.whole(value, inner, fields); v.hidden == before {
				value = v.tree(value, inner, fields)
			}
		default:
			value = v.tree(value, inner, fields)
		}
		kept := name
		v.text(&kept)
		out[v.free(kept, x, out)] = value
	}
	return out
}

// executes reports whether a field with this name is part of the executed
// input. It applies to fields that a policy rule redacts.
func executes(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"command", "cmd", "argv", "args", "script", "program", "path", "file", "code", "query", "sql", "url"}, func(s string) bool { return strings.Contains(name, s) })
}

// free returns a unique name for a member, because different names can be the
// same after redaction.
func (v *redaction) free(name string, in, out map[string]any) string {
	taken := func(s string) bool {
		_, before := out[s]
		return before
	}
	if _, own := in[name]; own && !taken(name) {
		return name
	}
	for n, s := 2, name; ; n++ {
		if _, own := in[s]; !own && !taken(s) {
			return s
		}
		s = fmt.Sprintf("%s (%d)", name, n)
	}
}

// secretPair returns the name of the member that holds the value of a pair such
// as {"name": "DB_PASSWORD", "value": "…"}. It returns "" if the object is not
// such a pair.
func (v *redaction) secretPair(x map[string]any) string {
	for _, field := range []string{"name", "key", "header", "variable"} {
		if name, ok := x[field].(string); ok && v.r.Secret(name) {
			if _, ok := x["value"]; ok {
				return "value"
			}
		}
	}
	return ""
}

// argvContext is the number of preceding words that determine the meaning of a
// word.
const argvContext = 8

// list redacts elements. The preceding elements affect the result, as in the
// arguments of a command.
func (v *redaction) list(x []any, path, fields []string) []any {
	out := make([]any, len(x))
	var before []string
	for n, value := range x {
		s, ok := value.(string)
		if !ok {
			out[n], before = v.tree(value, path, fields), nil
			continue
		}
		out[n] = v.leaf(s, v.word(before, s), path)
		if before = append(before, s); len(before) > argvContext {
			before = before[1:]
		}
	}
	return out
}

// word returns the form of a command argument that people see.
func (v *redaction) word(before []string, s string) string {
	shown := v.r.Redact(s)
	if len(before) == 0 || shown != s || s == "" || strings.HasPrefix(s, "-") {
		return shown
	}
	last := before[len(before)-1]
	if name := strings.TrimLeft(last, "-"); name != last && !strings.HasPrefix(name, "no-") && v.r.Secret(name) {
		return hiddenValue(s)
	}
	context := strings.Join(before, " ") + " "
	if strings.ContainsAny(s, " \t\n") {
		return shown
	}
	if whole, ok := strings.CutPrefix(v.r.Redact(context+s), v.r.Redact(context)); ok {
		return whole
	}
	return shown
}
