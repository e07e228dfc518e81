package slack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// inputState returns the state of every stateful element: the value that the
// member entered, or the initial value.
func inputState(blocks []raw.Object, given map[string][]string) (raw.Object, error) {
	values := raw.Object{}
	known := map[string]bool{}
	for _, block := range blocks {
		elements := raw.Objects(block, "elements")
		if e := raw.Sub(block, "element"); e != nil {
			elements = []raw.Object{e}
		}
		id := raw.Str(block, "block_id")
		for _, o := range elements {
			known[id] = true
			v, err := elementState(o, given[id], given[id] != nil)
			if err != nil {
				return nil, fmt.Errorf("slack: %s: %w", id, err)
			}
			if v != nil {
				values[id] = raw.Object{raw.Str(o, "action_id"): v}
			}
		}
	}
	for id := range given {
		if !known[id] {
			return nil, fmt.Errorf("slack: there is no input %q", id)
		}
	}
	return values, nil
}

// elementState returns the state of one element, or nil if it has none.
func elementState(e raw.Object, given []string, set bool) (raw.Object, error) {
	switch kind := raw.Str(e, "type"); kind {
	case "plain_text_input":
		if most, ok := raw.Number(e, "max_length"); set && ok && raw.Runes(strings.Join(given, "")) > int(most) {
			return nil, fmt.Errorf("longer than %v characters", most)
		}
		return typedState(kind, e, given, set)
	case "number_input", "email_text_input", "url_text_input", "datepicker", "timepicker":
		return typedState(kind, e, given, set)
	case "static_select", "radio_buttons":
		if !set {
			return raw.Object{"type": kind, "selected_option": e["initial_option"]}, nil
		}
		chosen, err := pick(e, given[:min(1, len(given))])
		if err != nil || len(chosen) == 0 {
			return raw.Object{"type": kind, "selected_option": nil}, err
		}
		return raw.Object{"type": kind, "selected_option": chosen[0]}, nil
	case "multi_static_select", "checkboxes":
		if !set {
			return raw.Object{"type": kind, "selected_options": append([]any{}, raw.List(e, "initial_options")...)}, nil
		}
		chosen, err := pick(e, given)
		return raw.Object{"type": kind, "selected_options": chosen}, err
	}
	return nil, nil
}

// pick finds options by their values.
func pick(e raw.Object, values []string) ([]any, error) {
	chosen := []any{}
	for _, value := range values {
		n := len(chosen)
		for _, o := range core.Options(e) {
			if raw.Str(o, "value") == value {
				chosen = append(chosen, raw.Clone(o))
				break
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("no option %q", value)
		}
	}
	return chosen, nil
}

// typedState returns the state of an input for text, numbers, dates or times.
// It returns an error for a value that the client does not let a member enter.
func typedState(kind string, e raw.Object, given []string, set bool) (raw.Object, error) {
	names := map[string][2]string{
		"datepicker": {"initial_date", "selected_date"}, "timepicker": {"initial_time", "selected_time"},
	}
	initial, value := "initial_value", "value"
	if n, ok := names[kind]; ok {
		initial, value = n[0], n[1]
	}
	text := raw.Str(e, initial)
	if set {
		text = strings.Join(given, "")
	}
	if text == "" {
		return raw.Object{"type": kind, value: nil}, nil
	}
	var err error
	switch kind {
	case "datepicker":
		_, err = time.Parse(time.DateOnly, text)
	case "timepicker":
		_, err = time.Parse("15:04", text)
	case "number_input":
		_, err = strconv.ParseFloat(text, 64)
	}
	return raw.Object{"type": kind, value: text}, err
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
	for _, key := range []string{"value", "selected_option", "selected_date", "selected_time"} {
		if state[key] != nil {
			return false
		}
	}
	return len(raw.List(state, "selected_options")) == 0
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
