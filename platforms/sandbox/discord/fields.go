package discord

import (
	"fmt"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// fill returns the values that a client sends for the components of a modal.
func fill(components []raw.Object, values map[string][]string) ([]any, error) {
	used := map[string]bool{}
	out := []any{}
	for _, o := range components {
		switch kindOf(o) {
		case label:
			field, err := filled(raw.Sub(o, "component"), values, used)
			if err != nil {
				return nil, err
			}
			out = append(out, raw.Object{"type": label, "id": o["id"], "component": field})
		case actionRow:
			field, err := filled(raw.Objects(o, "components")[0], values, used)
			if err != nil {
				return nil, err
			}
			out = append(out, raw.Object{"type": actionRow, "id": o["id"], "components": []any{field}})
		case textDisplay:
			out = append(out, raw.Object{"type": textDisplay, "id": o["id"]})
		}
	}
	for id := range values {
		if !used[id] {
			return nil, fmt.Errorf("there is no input %q", id)
		}
	}
	return out, nil
}

// filled returns one input with the value of the member, or with its default.
func filled(c raw.Object, values map[string][]string, used map[string]bool) (raw.Object, error) {
	id := raw.Str(c, "custom_id")
	used[id] = true
	given, set := values[id]
	out := raw.Object{"type": kindOf(c), "custom_id": id, "id": c["id"]}
	if kindOf(c) == textInput {
		text := raw.Str(c, "value")
		if set && len(given) > 0 {
			text = given[0]
		}
		out["value"] = text
		return out, checkTyped(c, id, text)
	}
	if !set {
		for _, o := range raw.Objects(c, "options") {
			if o["default"] == true {
				given = append(given, raw.Str(o, "value"))
			}
		}
	}
	picked, err := chosen(c, given)
	if err != nil {
		return nil, err
	}
	switch {
	case kindOf(c) != radioGroup:
		out["values"] = picked
	case len(picked) > 0:
		out["value"] = picked[0]
	default:
		out["value"] = nil
	}
	return out, nil
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
	least, most := 1, 1
	if n, ok := raw.Number(c, "min_values"); ok {
		least = int(n)
	}
	if n, ok := raw.Number(c, "max_values"); ok {
		most = int(n)
	} else if kindOf(c) == checkboxGroup {
		most = len(raw.List(c, "options"))
	}
	if c["required"] == false {
		least = 0
	}
	if len(given) < least || len(given) > most {
		return nil, fmt.Errorf("choose %d to %d", least, most)
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
