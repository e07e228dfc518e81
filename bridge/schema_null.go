package bridge

import (
	"encoding/json"
	"slices"
)

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
