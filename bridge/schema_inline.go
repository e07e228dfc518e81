package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// maxRefs limits the depth of references between definitions.
const maxRefs = 8

// definitions holds the definitions of a schema by their paths.
type definitions struct {
	byPath map[string]json.RawMessage
	budget int // number of bytes that references may still add
}

// inlined returns a schema in which the definitions replace all references to
// them. Other references stay in the schema, and are rejected later.
func inlined(schema json.RawMessage) json.RawMessage {
	top, err := members("schema", schema)
	if err != nil {
		return schema
	}
	d := definitions{map[string]json.RawMessage{}, MaxInput}
	for _, name := range []string{"$defs", "definitions"} {
		all, err := members("schema."+name, top.get(name))
		if err != nil {
			continue
		}
		for _, m := range all {
			d.byPath["#/"+name+"/"+m.name] = m.value
		}
		top = top.without(name)
	}
	if len(d.byPath) == 0 && !bytes.Contains(schema, []byte(`"allOf"`)) {
		return schema
	}
	return d.object(top, 0).raw()
}

// inline returns a part of a schema without references.
func (d *definitions) inline(raw json.RawMessage, depth int) json.RawMessage {
	switch raw = bytes.TrimSpace(raw); {
	case bytes.HasPrefix(raw, []byte{'{'}):
		all, err := members("", raw)
		if err != nil {
			return raw // rejected later
		}
		return d.object(all, depth).raw()
	case bytes.HasPrefix(raw, []byte{'['}):
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return raw
		}
		for n := range list {
			list[n] = d.inline(list[n], depth)
		}
		out, err := json.Marshal(list)
		if err != nil {
			return raw
		}
		return out
	}
	return raw
}

// object returns the keywords of a schema without references. A reference, or the
// only part of allOf, is merged with the keywords next to it.
func (d *definitions) object(all memberList, depth int) memberList {
	var out memberList
	for _, m := range all {
		switch m.name {
		case "properties": // the members of this object are names, not keywords
			inner, err := members("", m.value)
			if err == nil {
				for n := range inner {
					inner[n].value = d.inline(inner[n].value, depth)
				}
				m.value = inner.raw()
			}
		case "items", "anyOf", "oneOf", "allOf":
			m.value = d.inline(m.value, depth)
		}
		out = append(out, m)
	}
	var path string
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(out.get("$ref"), &path) == nil && out.has("$ref"):
		target, known := d.byPath[path]
		if d.budget -= len(target); !known || depth >= maxRefs || d.budget < 0 {
			return out
		}
		return out.without("$ref").merged(d.inline(target, depth+1))
	case out.has("allOf") && json.Unmarshal(out.get("allOf"), &parts) == nil && len(parts) == 1:
		return out.without("allOf").merged(parts[0])
	}
	return out
}

// merged adds the keywords of another schema. It does not replace annotations.
// An assertion in both schemas makes the result a schema of two parts, which is
// rejected later.
func (l memberList) merged(raw json.RawMessage) memberList {
	more, err := members("", raw)
	if err != nil {
		return append(l, member{"allOf", raw})
	}
	for _, m := range more {
		switch has := l.has(m.name); {
		case !has:
			l = append(l, m)
		case isAssertion(m.name) && string(l.get(m.name)) != string(m.value):
			return append(l, member{"allOf", raw})
		}
	}
	return l
}

// raw returns the members as a JSON object.
func (l memberList) raw() json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for n, m := range l {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonText(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// withoutNull returns the keywords of a property without null, and reports whether
// the property is nullable. It understands a list of types,
// nullable, and null among the choices or the alternatives.
func withoutNull(at string, raw json.RawMessage) (all memberList, nullable bool, err error) {
	if all, err = members(at, raw); err != nil {
		return nil, false, err
	}
	if err := decode(at+".nullable", all.get("nullable"), &nullable); err != nil {
		return nil, false, err
	}
	all = all.without("nullable")
	var types []string
	if json.Unmarshal(all.get("type"), &types) == nil && types != nil {
		rest := slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
		if len(rest) != 1 {
			return nil, false, Errorf(CodeInvalid, "%s.type: %d types are not supported", at, len(rest)).
				WithHint("use one type, or one type and null")
		}
		nullable = nullable || len(rest) < len(types)
		all = all.with("type", jsonText(rest[0]))
	}
	if !nullable && all.has("type") {
		return all, false, nil // null is not a value of the type
	}
	if slices.ContainsFunc(choiceKeywords, all.has) {
		nullable = false // null is allowed only if it is among the choices
	}
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		var list []json.RawMessage
		if json.Unmarshal(all.get(name), &list) != nil || !slices.ContainsFunc(list, isNull) {
			continue
		}
		all, err = others(at, all, name, slices.DeleteFunc(list, isNull))
		return all, true, err
	}
	return all, nullable, nil
}

// others returns the keywords of a property with the choices or alternatives
// other than null. A single alternative is the property itself.
func others(at string, all memberList, name string, list []json.RawMessage) (memberList, error) {
	rest, _ := json.Marshal(list) // encoding raw values never fails
	if name == "enum" || len(list) != 1 {
		return all.with(name, rest), nil
	}
	branch, err := members(at+"."+name+"[0]", list[0])
	switch {
	case err != nil:
		return nil, err
	case branch.has("const") && !branch.has("type"):
		return all.with(name, rest), nil
	case all.has("type"):
		return nil, Errorf(CodeInvalid, "%s.%s: not allowed together with type", at, name)
	}
	all = all.without(name)
	for _, m := range branch {
		if !all.has(m.name) {
			all = append(all, m)
		}
	}
	return all, nil
}

// isNull reports whether a choice or an alternative is null.
func isNull(raw json.RawMessage) bool {
	if string(raw) == "null" {
		return true
	}
	var s struct {
		Type  json.RawMessage `json:"type"`
		Const json.RawMessage `json:"const"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &s) != nil {
		return false
	}
	return string(s.Type) == `"null"` || string(s.Const) == "null"
}

// jsonText returns a string as JSON.
func jsonText(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // encoding strings never fails
	return raw
}

func (l memberList) without(name string) memberList {
	return slices.DeleteFunc(slices.Clone(l), func(m member) bool { return m.name == name })
}

// with returns the members with one value replaced.
func (l memberList) with(name string, value json.RawMessage) memberList {
	out := slices.Clone(l)
	for n := range out {
		if out[n].name == name {
			out[n].value = value
		}
	}
	return out
}
