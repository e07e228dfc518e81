package slack

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// A control is an interactive element. If the element is a menu that keeps no
// state, a control may be a single item of the menu.
type control struct {
	id, label      string
	key            string // identifies an element that keeps a member's input
	block, element raw.Object
	item           raw.Object // option
}

// kind returns the kind of the element.
func (c control) kind() kind { return elements[raw.Str(c.element, "type")] }

// interactive reports whether elements of a kind send clicks.
func (k kind) interactive() bool { _, has := k.shape["action_id"]; return has }

// inBlock returns the elements of a block, including its accessory.
func inBlock(b raw.Object) []raw.Object {
	out := raw.Objects(b, "elements")
	for _, name := range []string{"element", "accessory"} {
		if e := raw.Sub(b, name); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// controls lists the interactive elements of blocks. The ID of a control is its
// action ID. If several controls have the same action ID, the ID of the block
// precedes it. The key of an element that keeps a member's input is the ID of
// its block. If the block has several such elements, the key also has the action
// ID.
func controls(blocks []raw.Object) []control {
	var out []control
	same, inputs := map[string]int{}, map[string]int{}
	for _, b := range blocks {
		for _, e := range inBlock(b) {
			c := control{id: raw.Str(e, "action_id"), label: labelOf(b, e), key: raw.Str(b, "block_id"), block: b, element: e}
			if !c.kind().interactive() {
				continue
			}
			same[c.id]++
			if c.kind().state != "" {
				inputs[c.key]++
			}
			out = append(out, c)
		}
	}
	for n, c := range out {
		if same[c.id] > 1 {
			out[n].id = c.key + "/" + c.id
		}
		if inputs[c.key] > 1 {
			out[n].key += "/" + c.id
		}
	}
	return out
}

// slots lists the elements of blocks that keep a member's input.
func slots(blocks []raw.Object) []control {
	return slices.DeleteFunc(controls(blocks), func(c control) bool { return c.kind().state == "" })
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

// items returns the items of an overflow menu, each as a control.
func (c control) items() []control {
	if raw.Str(c.element, "type") != "overflow" {
		return nil
	}
	var out []control
	for _, o := range raw.Objects(c.element, "options") {
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
		if slices.Contains(values[raw.Str(c.block, "block_id")], raw.Str(i.item, "value")) {
			return i.item
		}
	}
	return nil
}

// echoed lists the fields of an element that Slack repeats in the payload.
var echoed = []string{
	"text", "value", "style", "url", "placeholder", "initial_option", "initial_options", "initial_user", "initial_date", "initial_time",
	"initial_date_time",
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
		out["selected_option"] = raw.Copy(o)
	}
	return out
}

// Controls lists the controls of a message.
func Controls(m raw.Object) []core.Control {
	var out []core.Control
	for _, c := range controls(raw.Objects(m, "blocks")) {
		shown := core.Control{ID: c.id, Label: c.label, Kind: "select"}
		items := c.items()
		switch {
		case len(items) > 0:
			for _, i := range items {
				out = append(out, core.Control{ID: i.id, Label: i.label, Kind: "button", Value: raw.Str(i.item, "value")})
			}
			continue
		case raw.Str(c.block, "type") == "input":
			shown.ID = raw.Str(c.block, "block_id")
		case c.kind().state == "":
			shown.Kind, shown.Value = "button", raw.Str(c.element, "value")
		}
		out = append(out, shown)
	}
	return out
}

// state returns the state of every element that has one: the member's input, or
// the initial value.
func (e *Emulator) state(all []control, given map[string][]string) (raw.Object, error) {
	values, known := raw.Object{}, map[string]bool{}
	for _, s := range all {
		known[s.key] = true
		v, err := e.elementState(s.element, given[s.key])
		if err != nil {
			return nil, e.Errorf("%s: %w", s.key, err)
		}
		id := raw.Str(s.block, "block_id")
		if values[id] == nil {
			values[id] = raw.Object{}
		}
		raw.Sub(values, id)[raw.Str(s.element, "action_id")] = v
	}
	for key := range given {
		if !known[key] {
			return nil, e.Errorf("there is no input %q", key)
		}
	}
	return values, nil
}

// elementState returns the state of an element: the entered values, or the
// initial value if given is nil. It returns an error for a value that the client
// does not let a member enter.
func (e *Emulator) elementState(of raw.Object, given []string) (raw.Object, error) {
	kind := raw.Str(of, "type")
	state := elements[kind].state
	many := strings.HasSuffix(state, "s")
	out := func(v any) (raw.Object, error) {
		name := "selected_" + state
		if state == "value" {
			name = state
		}
		return raw.Object{"type": kind, name: v}, nil
	}
	if given == nil {
		initial := raw.Clone(of["initial_"+state])
		if initial == nil && many {
			initial = []any{}
		}
		if initial == "" {
			initial = nil
		}
		return out(initial)
	}
	if most, ok := raw.Number(of, "max_selected_items"); ok && len(given) > int(most) {
		return nil, e.Errorf("more than %v items", most)
	}
	chosen := []any{}
	for _, text := range given {
		if text == "" && !many {
			continue
		}
		v, err := e.entry(kind, of, text)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, v)
	}
	switch {
	case many:
		return out(chosen)
	case len(chosen) == 0:
		return out(nil)
	}
	return out(chosen[0])
}

// entry returns the value of an element after a member enters a text, or
// chooses the option with that value.
func (e *Emulator) entry(kind string, of raw.Object, text string) (v any, err error) {
	v = text
	switch kind {
	case "datepicker":
		_, err = date(text)
	case "timepicker":
		_, err = clock(text)
	case "number_input":
		_, err = decimal(text)
	case "datetimepicker": // a text in RFC 3339, or a Unix time
		if t, bad := time.Parse(time.RFC3339, text); bad == nil {
			return t.Unix(), nil
		}
		return strconv.ParseInt(text, 10, 64)
	case "email_text_input", "url_text_input":
	case "plain_text_input":
		if most, ok := raw.Number(of, "max_length"); ok && raw.Runes(text) > int(most) {
			err = e.Errorf("longer than %v characters", most)
		}
	case "users_select":
		if _, known := e.ByID(text); !known {
			err = e.Errorf("no user %q", text)
		}
	default:
		options := core.Options(of)
		n := slices.IndexFunc(options, func(o raw.Object) bool { return raw.Str(o, "value") == text })
		if n < 0 {
			return nil, e.Errorf("no option %q", text)
		}
		return raw.Clone(options[n]), nil
	}
	return v, err
}

// clientErrors returns the errors that the client itself shows at the inputs of
// a view, by block ID.
func clientErrors(blocks []raw.Object, values raw.Object) map[string]string {
	errs := map[string]string{}
	for _, block := range blocks {
		id, e := raw.Str(block, "block_id"), raw.Sub(block, "element")
		state := raw.Sub(raw.Sub(values, id), raw.Str(e, "action_id"))
		if raw.Str(block, "type") == "input" && block["optional"] != true && isEmpty(state) {
			errs[id] = "Please complete this required field."
		}
		if text := raw.Str(state, "value"); text != "" {
			if problem := typedProblem(e, text); problem != "" {
				errs[id] = problem
			}
		}
	}
	return errs
}

func isEmpty(state raw.Object) bool {
	for key, v := range state {
		if list, many := v.([]any); key != "type" && v != nil && (!many || len(list) > 0) {
			return false
		}
	}
	return true
}

func typedProblem(e raw.Object, text string) string {
	least, hasLeast := raw.Number(e, "min_length")
	kind := raw.Str(e, "type")
	switch {
	case kind == "email_text_input" && !strings.Contains(text, "@"):
		return "Enter a valid email address."
	case kind == "url_text_input" && !strings.Contains(text, "://"):
		return "Enter a valid URL."
	case kind == "plain_text_input" && hasLeast && raw.Runes(text) < int(least):
		return "Enter more characters."
	case kind == "number_input":
		n, _ := decimal(text)
		least, err1 := decimal(raw.Str(e, "min_value"))
		most, err2 := decimal(raw.Str(e, "max_value"))
		if err1 == nil && n < least || err2 == nil && n > most || e["is_decimal_allowed"] == false && strings.Contains(text, ".") {
			return "Enter a number that is allowed."
		}
	}
	return ""
}
