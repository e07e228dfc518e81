package bridge

import (
	"encoding/json"
	"slices"
)

// withoutNull returns the keywords of a property that can be null as those of
// one that cannot, and reports whether it can. It understands a list of types,
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
			return nil, false, Errorf(CodeInvalid, "%s.type: %d types are not supported", at, len(rest)).WithHint("use one type, or one type and null")
		}
		nullable = nullable || len(rest) < len(types)
		all = all.with("type", jsonText(rest[0]))
	}
	if !nullable && all.has("type") {
		return all, false, nil // null is not a value of the type
	}
	if slices.ContainsFunc(choiceKeywords, all.has) {
		nullable = false // unless it is among the choices
	}
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		var list []json.RawMessage
		if json.Unmarshal(all.get(name), &list) != nil || !slices.ContainsFunc(list, isNull) {
			continue
		}
		nullable = true
		if list = slices.DeleteFunc(list, isNull); name == "enum" || len(list) != 1 {
			value, _ := json.Marshal(list) // raw values always marshal
			all = all.with(name, value)
			continue
		}
		branch, err := members(at+"."+name+"[0]", list[0])
		if err != nil {
			return nil, false, err
		}
		if branch.has("const") && !branch.has("type") {
			all = all.with(name, slices.Concat(json.RawMessage("["), list[0], json.RawMessage("]")))
			continue
		}
		if all = all.without(name); all.has("type") {
			return nil, false, Errorf(CodeInvalid, "%s.%s: not allowed together with type", at, name)
		}
		for _, m := range branch {
			if !all.has(m.name) {
				all = append(all, m)
			}
		}
	}
	return all, nullable, nil
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
	raw, _ := json.Marshal(s) // strings always marshal
	return raw
}

func (l memberList) without(name string) memberList {
	return slices.DeleteFunc(slices.Clone(l), func(m member) bool { return m.name == name })
}

// with returns the members with another value for one of them.
func (l memberList) with(name string, value json.RawMessage) memberList {
	out := slices.Clone(l)
	for n := range out {
		if out[n].name == name {
			out[n].value = value
		}
	}
	return out
}
