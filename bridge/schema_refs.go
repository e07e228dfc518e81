package bridge

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxRefs limits how deep definitions may refer to each other.
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
