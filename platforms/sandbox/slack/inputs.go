package slack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// elements returns the elements of a block, including its accessory.
func elements(b raw.Object) []raw.Object {
	out := raw.Objects(b, "elements")
	for _, name := range []string{"element", "accessory"} {
		if e := raw.Sub(b, name); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// stateKinds maps the elements that keep a member's input to two fields: the
// field of the initial value, and the field of the state. The state of an
// element with a plural field is a list.
var stateKinds = map[string][2]string{
	"plain_text_input": {"initial_value", "value"}, "number_input": {"initial_value", "value"},
	"email_text_input": {"initial_value", "value"}, "url_text_input": {"initial_value", "value"},
	"rich_text_input": {"initial_value", "rich_text_value"}, "file_input": {"", "files"},
	"datepicker": {"initial_date", "selected_date"}, "timepicker": {"initial_time", "selected_time"},
	"datetimepicker": {"initial_date_time", "selected_date_time"},
	"static_select":  {"initial_option", "selected_option"}, "multi_static_select": {"initial_options", "selected_options"},
	"external_select": {"initial_option", "selected_option"}, "multi_external_select": {"initial_options", "selected_options"},
	"radio_buttons": {"initial_option", "selected_option"}, "checkboxes": {"initial_options", "selected_options"},
	"users_select": {"initial_user", "selected_user"}, "multi_users_select": {"initial_users", "selected_users"},
	"conversations_select":       {"initial_conversation", "selected_conversation"},
	"multi_conversations_select": {"initial_conversations", "selected_conversations"},
	"channels_select":            {"initial_channel", "selected_channel"},
	"multi_channels_select":      {"initial_channels", "selected_channels"},
}

// A slot is an element that keeps a member's input. Its key is the ID of its
// block. If the block has several such elements, the key also has the action
// ID.
type slot struct {
	key     string
	block   raw.Object
	element raw.Object
}

func slots(blocks []raw.Object) []slot {
	var out []slot
	for _, b := range blocks {
		var own []slot
		for _, e := range elements(b) {
			if _, keeps := stateKinds[raw.Str(e, "type")]; keeps {
				own = append(own, slot{raw.Str(b, "block_id"), b, e})
			}
		}
		for n := range own {
			if len(own) > 1 {
				own[n].key += "/" + raw.Str(own[n].element, "action_id")
			}
		}
		out = append(out, own...)
	}
	return out
}

// state returns the state of every element that has one: the member's input, or
// the initial value. Options finds the options of a slot.
func (cl client) state(all []slot, given map[string][]string, options func(slot) []raw.Object) (raw.Object, error) {
	values := raw.Object{}
	known := map[string]bool{}
	for _, s := range all {
		known[s.key] = true
		v, err := cl.elementState(s.element, given[s.key], given[s.key] != nil, options(s))
		if err != nil {
			return nil, fmt.Errorf("slack: %s: %w", s.key, err)
		}
		id := raw.Str(s.block, "block_id")
		if values[id] == nil {
			values[id] = raw.Object{}
		}
		raw.Sub(values, id)[raw.Str(s.element, "action_id")] = v
	}
	for key := range given {
		if !known[key] {
			return nil, fmt.Errorf("slack: there is no input %q", key)
		}
	}
	return values, nil
}

// elementState returns the state of an element. It returns an error for a value
// that the client does not let a member enter.
func (cl client) elementState(e raw.Object, given []string, set bool, options []raw.Object) (raw.Object, error) {
	kind := raw.Str(e, "type")
	names := stateKinds[kind]
	many := strings.HasSuffix(names[1], "s")
	if !set {
		initial := raw.Clone(e[names[0]])
		if initial == nil && many {
			initial = []any{}
		}
		if initial == "" {
			initial = nil
		}
		return raw.Object{"type": kind, names[1]: initial}, nil
	}
	if most, ok := raw.Number(e, "max_selected_items"); ok && len(given) > int(most) {
		return nil, fmt.Errorf("more than %v items", most)
	}
	chosen := []any{}
	for _, text := range given {
		if text == "" && !many {
			continue
		}
		v, err := cl.entry(kind, e, text, options)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, v)
	}
	switch {
	case many:
		return raw.Object{"type": kind, names[1]: chosen}, nil
	case len(chosen) == 0:
		return raw.Object{"type": kind, names[1]: nil}, nil
	}
	return raw.Object{"type": kind, names[1]: chosen[0]}, nil
}

// readers convert the text that a member types into an element.
var readers = map[string]func(text string) (any, error){
	"datepicker":       func(s string) (any, error) { _, err := time.Parse(time.DateOnly, s); return s, err },
	"timepicker":       func(s string) (any, error) { _, err := time.Parse("15:04", s); return s, err },
	"number_input":     func(s string) (any, error) { _, err := strconv.ParseFloat(s, 64); return s, err },
	"datetimepicker":   seconds,
	"email_text_input": func(s string) (any, error) { return s, nil },
	"url_text_input":   func(s string) (any, error) { return s, nil },
	"rich_text_input": func(s string) (any, error) {
		line := raw.Object{"type": "rich_text_section", "elements": []any{raw.Object{"type": "text", "text": s}}}
		return raw.Object{"type": "rich_text", "elements": []any{line}}, nil
	},
}

// seconds returns the Unix time of a text in RFC 3339, or of a Unix time.
func seconds(s string) (any, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Unix(), nil
	}
	return strconv.ParseInt(s, 10, 64)
}

// entry returns the value of an element after a member enters a text, or
// chooses the option with that value.
func (cl client) entry(kind string, e raw.Object, text string, options []raw.Object) (any, error) {
	if read := readers[kind]; read != nil {
		return read(text)
	}
	switch kind {
	case "plain_text_input":
		if most, ok := raw.Number(e, "max_length"); ok && raw.Runes(text) > int(most) {
			return nil, fmt.Errorf("longer than %v characters", most)
		}
		return text, nil
	case "users_select", "multi_users_select":
		if _, known := cl.ByID(text); !known {
			return nil, fmt.Errorf("no user %q", text)
		}
		return text, nil
	case "channels_select", "multi_channels_select", "conversations_select", "multi_conversations_select":
		if c := cl.channel(text); c == nil || c.User != "" && strings.Contains(kind, "channels") {
			return nil, fmt.Errorf("no conversation %q", text)
		}
		return text, nil
	}
	n := slices.IndexFunc(options, func(o raw.Object) bool { return raw.Str(o, "value") == text })
	if n < 0 {
		return nil, fmt.Errorf("no option %q", text)
	}
	return raw.Clone(options[n]), nil
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
	switch raw.Str(e, "type") {
	case "email_text_input":
		if !strings.Contains(text, "@") {
			return "Enter a valid email address."
		}
	case "url_text_input":
		if !strings.Contains(text, "://") {
			return "Enter a valid URL."
		}
	case "number_input":
		n, _ := strconv.ParseFloat(text, 64)
		least, err1 := strconv.ParseFloat(raw.Str(e, "min_value"), 64)
		most, err2 := strconv.ParseFloat(raw.Str(e, "max_value"), 64)
		if err1 == nil && n < least || err2 == nil && n > most || e["is_decimal_allowed"] == false &&
			strings.Contains(text, ".") {
			return "Enter a number that is allowed."
		}
	case "plain_text_input":
		if least, ok := raw.Number(e, "min_length"); ok && raw.Runes(text) < int(least) {
			return "Enter more characters."
		}
	}
	return ""
}

// choicesOf returns the options of a slot: its own, or those that the app
// suggested to a member.
func (cl client) choicesOf(in input) func(slot) []raw.Object {
	return func(s slot) []raw.Object {
		if strings.Contains(raw.Str(s.element, "type"), "external") {
			in.key = s.key
			return append(cl.suggested[in], chosen(s.element)...)
		}
		return core.Options(s.element)
	}
}

// chosen returns the initial options of an element.
func chosen(e raw.Object) []raw.Object {
	out := raw.Objects(e, "initial_options")
	if o := raw.Sub(e, "initial_option"); o != nil {
		out = append(out, o)
	}
	return out
}
