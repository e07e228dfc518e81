package slack

import (
	"maps"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// A control is an interactive element. If the element is a menu that keeps no
// state, a control may be a single item of the menu.
type control struct {
	id, label      string
	block, element raw.Object
	item           raw.Object // option or feedback button
}

// controls lists the interactive elements of blocks. The ID of a control is its
// action ID. If several controls have the same action ID, the ID of the block
// precedes it. The ID of a menu item ends with the value of the item.
func controls(blocks []raw.Object) []control {
	var out []control
	seen := map[string]int{}
	for _, b := range blocks {
		for _, e := range elements(b) {
			if _, interactive := elementKinds[raw.Str(e, "type")].shape["action_id"]; interactive {
				seen[raw.Str(e, "action_id")]++
				out = append(out, control{id: raw.Str(e, "action_id"), label: labelOf(b, e), block: b, element: e})
			}
		}
	}
	for n, c := range out {
		if seen[c.id] > 1 {
			out[n].id = raw.Str(c.block, "block_id") + "/" + c.id
		}
	}
	return out
}

// labelOf returns the visible label of an element.
func labelOf(b, e raw.Object) string {
	for _, o := range []raw.Object{raw.Sub(e, "text"), raw.Sub(b, "label"), raw.Sub(e, "placeholder")} {
		if o != nil {
			return raw.Str(o, "text")
		}
	}
	return ""
}

// items returns the items of a menu that keeps no state, each as a control.
func (c control) items() []control {
	var all []raw.Object
	switch raw.Str(c.element, "type") {
	case "overflow":
		all = raw.Objects(c.element, "options")
	case "feedback_buttons":
		all = []raw.Object{raw.Sub(c.element, "positive_button"), raw.Sub(c.element, "negative_button")}
	}
	var out []control
	for _, o := range all {
		i := c
		i.id, i.label, i.item = c.id+"#"+raw.Str(o, "value"), raw.Str(raw.Sub(o, "text"), "text"), o
		out = append(out, i)
	}
	return out
}

// findControl finds a control by its ID. If several controls have the action
// ID, it returns the first. The ID of the block may always precede the action
// ID.
func findControl(blocks []raw.Object, id string) (control, bool) {
	for _, c := range controls(blocks) {
		action := raw.Str(c.element, "action_id")
		for _, c.id = range []string{action, raw.Str(c.block, "block_id") + "/" + action} {
			for _, i := range append([]control{c}, c.items()...) {
				if i.id == id {
					return i, true
				}
			}
		}
	}
	return control{}, false
}

// option returns the chosen item of a menu that keeps no state, or nil.
func (c control) option(values map[string][]string) raw.Object {
	if c.item != nil {
		return c.item
	}
	for _, i := range c.items() {
		for _, v := range values[raw.Str(c.block, "block_id")] {
			if raw.Str(i.item, "value") == v {
				return i.item
			}
		}
	}
	return nil
}

// echoed lists the fields of an element that Slack repeats in the payload.
var echoed = []string{
	"text", "value", "style", "url", "placeholder", "initial_option", "initial_options", "initial_user", "initial_users",
	"initial_conversation", "initial_channel", "initial_date", "initial_time", "initial_date_time",
}

// action returns the entry of a payload for a click.
func (c control) action(at string, state raw.Object, values map[string][]string) raw.Object {
	id, action := raw.Str(c.block, "block_id"), raw.Str(c.element, "action_id")
	out := raw.Object{"type": raw.Str(c.element, "type"), "block_id": id, "action_id": action, "action_ts": at}
	for _, name := range echoed {
		if v, ok := c.element[name]; ok {
			out[name] = raw.Clone(v)
		}
	}
	maps.Copy(out, raw.Sub(raw.Sub(state, id), action))
	if o := c.option(values); o != nil {
		if raw.Str(c.element, "type") == "overflow" {
			out["selected_option"] = raw.Copy(o)
		} else {
			out["text"], out["value"] = raw.Copy(raw.Sub(o, "text")), raw.Str(o, "value")
		}
	}
	return out
}

// Controls lists the controls of a message.
func Controls(m raw.Object) []core.Control {
	var out []core.Control
	for _, c := range controls(raw.Objects(m, "blocks")) {
		if items := c.items(); len(items) > 0 {
			for _, i := range items {
				out = append(out, core.Control{ID: i.id, Label: i.label, Kind: "button", Value: raw.Str(i.item, "value")})
			}
			continue
		}
		_, keeps := stateKinds[raw.Str(c.element, "type")]
		switch {
		case raw.Str(c.block, "type") == "input":
			out = append(out, core.Control{ID: raw.Str(c.block, "block_id"), Label: c.label, Kind: "select"})
		case keeps:
			out = append(out, core.Control{ID: c.id, Label: c.label, Kind: "select"})
		default:
			out = append(out, core.Control{ID: c.id, Label: c.label, Kind: "button", Value: raw.Str(c.element, "value")})
		}
	}
	return out
}
