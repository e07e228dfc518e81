package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// element checks an interactive element. Input reports whether an input block
// contains it.
func (c *checker) element(at string, e raw.Object, input bool) {
	kind, id := raw.Str(e, "type"), raw.Str(e, "action_id")
	if id == "" || len(id) > maxActionID {
		c.fail(at+"/action_id", "must be 1 to %d characters", maxActionID)
	}
	if c.actions[id] {
		c.fail(at+"/action_id", "`action_id` already exists: %s", id)
	}
	c.actions[id] = true
	c.text(at, e, "placeholder", maxPlaceholder, false, "plain_text")
	switch kind {
	case "button":
		c.button(at, e, input)
	case "static_select", "multi_static_select":
		c.choices(at, e, maxSelect, "plain_text")
	case "radio_buttons", "checkboxes":
		c.choices(at, e, maxRadio, "plain_text mrkdwn")
	case "plain_text_input":
		c.textInput(at, e, input)
	case "number_input", "email_text_input", "url_text_input", "datepicker", "timepicker":
		c.typed(at, kind, e, input)
	default:
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
}

func (c *checker) button(at string, e raw.Object, input bool) {
	if input {
		c.fail(at+"/type", "not allowed in input")
	}
	c.text(at, e, "text", maxButton, true, "plain_text")
	if len(raw.Str(e, "value")) > maxButtonValue {
		c.fail(at+"/value", "must be less than %d characters", maxButtonValue+1)
	}
	if s, ok := e["style"]; ok && s != "primary" && s != "danger" {
		c.fail(at+"/style", "must be primary or danger")
	}
}

func (c *checker) textInput(at string, e raw.Object, input bool) {
	if !input {
		c.fail(at+"/type", "only allowed in input")
	}
	least, _ := raw.Number(e, "min_length")
	most, given := raw.Number(e, "max_length")
	if least < 0 || least > maxInput || given && (most < 1 || most > maxInput || most < least) {
		c.fail(at, "min_length and max_length must be 0 to %d", maxInput)
	}
	if length(raw.Str(e, "initial_value")) > maxInput*5 { // a character counts up to 5 as an entity
		c.fail(at+"/initial_value", "too long")
	}
}

func isNumber(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }

func isTime(layout string) func(string) bool {
	return func(s string) bool { _, err := time.Parse(layout, s); return err == nil }
}

// typed checks inputs for numbers, addresses, dates and times.
func (c *checker) typed(at, kind string, e raw.Object, input bool) {
	if !input && kind != "datepicker" && kind != "timepicker" {
		c.fail(at+"/type", "only allowed in input")
	}
	parse := func(name string, ok func(string) bool) {
		if v, given := e[name]; given && (!ok(raw.Str(e, name)) || v == "") {
			c.fail(at+"/"+name, "invalid value %v", v)
		}
	}
	switch kind {
	case "number_input":
		if _, ok := e["is_decimal_allowed"].(bool); !ok {
			c.fail(at+"/is_decimal_allowed", "missing required field")
		}
		for _, name := range []string{"initial_value", "min_value", "max_value"} {
			parse(name, isNumber)
		}
		least, err1 := strconv.ParseFloat(raw.Str(e, "min_value"), 64)
		most, err2 := strconv.ParseFloat(raw.Str(e, "max_value"), 64)
		if err1 == nil && err2 == nil && least > most {
			c.fail(at+"/min_value", "must be less than max_value")
		}
	case "datepicker":
		parse("initial_date", isTime(time.DateOnly))
	case "timepicker":
		parse("initial_time", isTime("15:04"))
	}
}

// choices checks the options of an element, or its groups of options.
func (c *checker) choices(at string, e raw.Object, most int, kinds string) {
	groups, options := raw.Objects(e, "option_groups"), raw.Objects(e, "options")
	if (len(groups) == 0) == (len(options) == 0) {
		c.fail(at, "exactly one of options and option_groups is needed")
	}
	if len(groups) > maxGroups {
		c.fail(at+"/option_groups", "no more than %d items allowed", maxGroups)
	}
	seen := map[string]bool{}
	for n, g := range groups {
		at := fmt.Sprintf("%s/option_groups/%d", at, n)
		c.text(at, g, "label", maxOption, true, "plain_text")
		c.options(at, raw.Objects(g, "options"), most, kinds, seen)
	}
	if len(groups) == 0 {
		c.options(at, options, most, kinds, seen)
	}
	initial := raw.List(e, "initial_options")
	if o, ok := e["initial_option"]; ok {
		initial = append(initial, o)
	}
	for _, i := range initial {
		if !slices.ContainsFunc(core.Options(e), func(o raw.Object) bool { return same(o, i) }) {
			c.fail(at+"/initial_option", "must be one of the options")
		}
	}
}

func (c *checker) options(at string, options []raw.Object, most int, kinds string, seen map[string]bool) {
	if len(options) < 1 || len(options) > most {
		c.fail(at+"/options", "must have 1 to %d items", most)
	}
	for n, o := range options {
		at := fmt.Sprintf("%s/options/%d", at, n)
		c.text(at, o, "text", maxOption, true, kinds)
		c.text(at, o, "description", maxOption, false, kinds)
		value := raw.Str(o, "value")
		if value == "" || len(value) > maxOptionValue {
			c.fail(at+"/value", "must be 1 to %d characters", maxOptionValue)
		}
		if seen[value] {
			c.fail(at+"/value", "duplicate value")
		}
		seen[value] = true
	}
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
