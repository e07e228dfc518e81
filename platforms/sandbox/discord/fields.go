package discord

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// filler fills in a modal for a member.
type filler struct {
	*Emulator
	values   map[string][]string // values by custom ID
	used     map[string]bool
	resolved raw.Object
}

// fill returns the values that a client sends for the components of a modal,
// and the objects of the IDs in them.
func (e *Emulator) fill(components []raw.Object, values map[string][]string) ([]any, raw.Object, error) {
	f := filler{e, values, map[string]bool{}, raw.Object{}}
	out := []any{}
	for _, o := range components {
		switch kindOf(o) {
		case label:
			field, err := f.filled(raw.Sub(o, "component"))
			if err != nil {
				return nil, nil, err
			}
			out = append(out, raw.Object{"type": label, "id": o["id"], "component": field})
		case actionRow:
			field, err := f.filled(raw.Objects(o, "components")[0])
			if err != nil {
				return nil, nil, err
			}
			out = append(out, raw.Object{"type": actionRow, "id": o["id"], "components": []any{field}})
		case textDisplay:
			out = append(out, raw.Object{"type": textDisplay, "id": o["id"]})
		}
	}
	for id := range values {
		if !f.used[id] {
			return nil, nil, fmt.Errorf("there is no input %q", id)
		}
	}
	return out, f.resolved, nil
}

// filled returns an input with the value that the member entered, or with its
// default.
func (f filler) filled(c raw.Object) (raw.Object, error) {
	id := raw.Str(c, "custom_id")
	f.used[id] = true
	given, set := f.values[id]
	out := raw.Object{"type": kindOf(c), "custom_id": id, "id": c["id"]}
	switch kindOf(c) {
	case textInput:
		text := raw.Str(c, "value")
		if set && len(given) > 0 {
			text = given[0]
		}
		out["value"] = text
		return out, checkTyped(c, id, text)
	case checkbox:
		out["value"] = set && len(given) > 0 && given[0] == "true" || !set && c["default"] == true
		return out, nil
	case fileUpload:
		if err := countChosen(c, len(given)); err != nil {
			return nil, err
		}
		out["values"] = f.uploaded(f.resolved, given)
		return out, nil
	}
	return out, f.choose(out, c, given, set)
}

// choose sets the chosen options of an input.
func (f filler) choose(out, c raw.Object, given []string, set bool) error {
	c = f.withOptions(c)
	if !set {
		for _, o := range raw.Objects(c, "options") {
			if o["default"] == true {
				given = append(given, raw.Str(o, "value"))
			}
		}
	}
	picked, err := chosen(c, given)
	if err != nil {
		return err
	}
	f.resolve(f.resolved, kindOf(c), picked)
	switch {
	case kindOf(c) != radioGroup:
		out["values"] = picked
	case len(picked) > 0:
		out["value"] = picked[0]
	default:
		out["value"] = nil
	}
	return nil
}

// checkTyped checks a text against the limits that the client enforces.
func checkTyped(c raw.Object, id, text string) error {
	if text == "" && c["required"] != false {
		return fmt.Errorf("%s is required", id)
	}
	if most, ok := raw.Number(c, "max_length"); ok && raw.Runes(text) > int(most) {
		return fmt.Errorf("%s is longer than %v", id, most)
	}
	if least, ok := raw.Number(c, "min_length"); ok && text != "" && raw.Runes(text) < int(least) {
		return fmt.Errorf("%s is shorter than %v", id, least)
	}
	return nil
}

// chosen returns the values of a select. It returns an error if the client does
// not let a member choose them.
func chosen(c raw.Object, given []string) ([]any, error) {
	if err := countChosen(c, len(given)); err != nil {
		return nil, err
	}
	out := []any{}
	for _, v := range given {
		if !slices.ContainsFunc(raw.Objects(c, "options"), func(o raw.Object) bool { return raw.Str(o, "value") == v }) {
			return nil, fmt.Errorf("no option %q", v)
		}
		out = append(out, v)
	}
	return out, nil
}

// countChosen checks how many values a member chose.
func countChosen(c raw.Object, n int) error {
	least, most := 1, 1
	if v, ok := raw.Number(c, "min_values"); ok {
		least = int(v)
	}
	if v, ok := raw.Number(c, "max_values"); ok {
		most = int(v)
	} else if kindOf(c) == checkboxGroup {
		most = len(raw.List(c, "options"))
	}
	if c["required"] == false {
		least = 0
	}
	if n < least || n > most {
		return fmt.Errorf("choose %d to %d", least, most)
	}
	return nil
}

// entity is a user, a role or a channel that a select offers.
type entity struct {
	kind, id, name string // kind is the name of its list in resolved
	data           raw.Object
}

// offered returns the entries of a select of users, roles or channels. The
// caller holds the lock.
func (e *Emulator) offered(kind int) []entity {
	var out []entity
	if kind == userSelect || kind == anySelect {
		for _, m := range e.Members {
			out = append(out, entity{"users", m.ID, m.Name, userJSON(m)})
		}
	}
	if kind == roleSelect || kind == anySelect {
		for _, r := range e.roles() {
			out = append(out, entity{"roles", raw.Str(r, "id"), raw.Str(r, "name"), r})
		}
	}
	if kind == channelSelect {
		for _, ch := range raw.All(e.textChannels()) {
			out = append(out, entity{"channels", raw.Str(ch, "id"), raw.Str(ch, "name"), ch})
		}
	}
	return out
}

// withOptions returns a copy of an input. A select of users, roles or channels
// gets its entries as options, so that people choose by name.
func (e *Emulator) withOptions(c raw.Object) raw.Object {
	c = raw.Copy(c)
	if !picksEntity(kindOf(c)) {
		return c
	}
	selected := map[string]bool{}
	for _, v := range raw.Objects(c, "default_values") {
		selected[raw.Str(v, "id")] = true
	}
	var options []any
	for _, e := range e.offered(kindOf(c)) {
		options = append(options, raw.Object{"label": e.name, "value": e.id, "default": selected[e.id]})
	}
	c["options"] = options
	return c
}

// resolve adds the objects of chosen IDs to the field "resolved" of an
// interaction.
func (e *Emulator) resolve(resolved raw.Object, kind int, values []any) {
	add := func(list, id string, data raw.Object) {
		if raw.Sub(resolved, list) == nil {
			resolved[list] = raw.Object{}
		}
		raw.Sub(resolved, list)[id] = data
	}
	for _, o := range e.offered(kind) {
		if !slices.Contains(values, any(o.id)) {
			continue
		}
		add(o.kind, o.id, o.data)
		if m, known := e.ByID(o.id); known {
			member := memberJSON(nil, e.GroupsOf(m))
			delete(member, "user")
			member["permissions"] = "0" // permissions in the channel
			add("members", o.id, member)
		}
	}
}

// uploaded stores the files that a member chose in a modal, and returns their
// IDs. The first line of a value is the name of a file, and the rest is its
// content.
func (e *Emulator) uploaded(resolved raw.Object, values []string) []any {
	ids, attachments := []any{}, raw.Object{}
	for _, v := range values {
		name, content, _ := strings.Cut(v, "\n")
		a := e.upload(file{data: []byte(content)}, name)
		ids, attachments[raw.Str(a, "id")] = append(ids, a["id"]), a
	}
	if len(ids) > 0 {
		resolved["attachments"] = attachments
	}
	return ids
}
