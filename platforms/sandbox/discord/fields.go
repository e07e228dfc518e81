package discord

import (
	"fmt"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// filler fills in a modal for a member.
type filler struct {
	values map[string][]string // values by custom ID
	used   map[string]bool
}

// fill returns the values that a client sends for the components of a modal.
func fill(components []raw.Object, values map[string][]string) ([]any, error) {
	f := filler{values, map[string]bool{}}
	out := []any{}
	for _, o := range components {
		switch kindOf(o) {
		case label:
			field, err := f.filled(raw.Sub(o, "component"))
			if err != nil {
				return nil, err
			}
			out = append(out, raw.Object{"type": label, "id": o["id"], "component": field})
		case actionRow:
			field, err := f.filled(raw.Objects(o, "components")[0])
			if err != nil {
				return nil, err
			}
			out = append(out, raw.Object{"type": actionRow, "id": o["id"], "components": []any{field}})
		case textDisplay:
			out = append(out, raw.Object{"type": textDisplay, "id": o["id"]})
		}
	}
	for id := range values {
		if !f.used[id] {
			return nil, fmt.Errorf("there is no input %q", id)
		}
	}
	return out, nil
}

// filled returns an input with the value that the member entered, or with its
// default.
func (f filler) filled(c raw.Object) (raw.Object, error) {
	id := raw.Str(c, "custom_id")
	f.used[id] = true
	given, set := f.values[id]
	out := raw.Object{"type": kindOf(c), "custom_id": id, "id": c["id"]}
	if kindOf(c) == textInput {
		text := raw.Str(c, "value")
		if set && len(given) > 0 {
			text = given[0]
		}
		out["value"] = text
		return out, checkTyped(c, id, text)
	}
	return out, choose(out, c, given, set)
}

// choose sets the chosen options of an input.
func choose(out, c raw.Object, given []string, set bool) error {
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

// withOptions returns a copy of a select. A select of users gets the members as
// options, so that people choose by name.
func (e *Emulator) withOptions(c raw.Object) raw.Object {
	c = raw.Copy(c)
	if kindOf(c) != userSelect {
		return c
	}
	var options []any
	for _, m := range e.Members {
		options = append(options, raw.Object{"label": m.Name, "value": m.ID})
	}
	c["options"] = options
	return c
}

// resolved returns the objects of chosen users. The caller holds the lock.
func (e *Emulator) resolved(values []any) raw.Object {
	users, members := raw.Object{}, raw.Object{}
	for _, m := range e.Members {
		if !slices.Contains(values, any(m.ID)) {
			continue
		}
		member := memberJSON(nil, e.GroupsOf(m))
		delete(member, "user")
		member["permissions"] = "0" // permissions in the channel
		users[m.ID], members[m.ID] = userJSON(m), member
	}
	return raw.Object{"users": users, "members": members}
}
