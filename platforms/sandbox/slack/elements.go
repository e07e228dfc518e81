package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// A part is a part of a block that contains elements.
type part uint8

const (
	inSection part = 1 << iota
	inActions
	inInput
	inContext
	inContextActions
	inMenus = inSection | inActions | inInput
)

// An elementKind is a type of element with the parts that accept it.
type elementKind struct {
	in part
	kind
}

var (
	interactive = shape{"action_id": optional((*checker).actionID)}
	confirmable = interactive.with(shape{"confirm": optional(confirm)})
	selectable  = confirmable.with(shape{"placeholder": optional(plain(maxPlaceholder)), "focus_on_load": optional((*checker).focus)})
	multiple    = selectable.with(shape{"max_selected_items": optional(integer(1, math.MaxInt32))})
	ticked      = confirmable.with(shape{"focus_on_load": optional((*checker).focus), "options": required(anything)})
	typedIn     = interactive.with(shape{
		"placeholder": optional(plain(maxPlaceholder)), "focus_on_load": optional((*checker).focus),
		"dispatch_action_config": optional(objectOf(shape{
			"trigger_actions_on": optional(listOf(1, 2, oneOf("on_enter_pressed", "on_character_entered"))),
		})),
	})
	grouped = shape{"options": optional(anything), "option_groups": optional(anything)}
	labeled = shape{"text": required(plain(maxButton)), "accessibility_label": optional(text(0, maxButton))}
	clicked = confirmable.with(labeled).with(shape{"value": optional(text(0, maxButtonValue))})
	styled  = shape{"style": optional(oneOf("primary", "danger"))}
	filter  = optional(objectOf(shape{
		"include":                          optional(listOf(1, 4, oneOf("im", "mpim", "private", "public"))),
		"exclude_external_shared_channels": optional(flag), "exclude_bot_users": optional(flag),
	}))
	here  = shape{"default_to_current_conversation": optional(flag), "filter": filter}
	reply = shape{"response_url_enabled": optional(flag)}
	// characters that a member must type before an external select asks for
	// options
	query = optional(integer(0, math.MaxInt32))
	some  = optional(listOf(0, math.MaxInt32, anyText))
	timed = optional(matching(isTime("15:04")))
	dated = optional(matching(isTime(time.DateOnly)))
	float = optional(matching(isNumber))
	reach = shape{"initial_value": optional(text(1, maxInput))}
	menu  = func(on surface, s shape, more shape) elementKind {
		return elementKind{inMenus, kind{on: on, shape: s.with(more)}}
	}
)

var (
	fewChoices  = choices(maxRadio, option("plain_text", "mrkdwn"))
	manyChoices = choices(maxSelect, option("plain_text"))
	menuItems   = choices(maxOverflow, option("plain_text").with(shape{"url": optional(address)}))
)

// elementKinds are the elements of blocks.
var elementKinds = map[string]elementKind{
	"button": {inSection | inActions, kind{on: everywhere, shape: clicked.with(styled).with(shape{"url": optional(address)})}},
	"checkboxes": {inMenus, kind{
		on: everywhere, shape: ticked.with(shape{"initial_options": optional(anything)}), more: fewChoices,
	}},
	"radio_buttons": {inMenus, kind{
		on: everywhere, shape: ticked.with(shape{"initial_option": optional(anything)}), more: fewChoices,
	}},
	"overflow": {inSection | inActions, kind{
		on: everywhere, shape: confirmable.with(shape{"options": required(anything)}), more: menuItems,
	}},
	"static_select": {inMenus, kind{
		on: everywhere, shape: selectable.with(grouped).with(shape{"initial_option": optional(anything)}), more: manyChoices,
	}},
	"multi_static_select": {inMenus, kind{
		on: everywhere, shape: multiple.with(grouped).with(shape{"initial_options": optional(anything)}), more: manyChoices,
	}},
	"external_select":            menu(everywhere, selectable, shape{"initial_option": optional(anything), "min_query_length": query}),
	"multi_external_select":      menu(everywhere, multiple, shape{"initial_options": optional(anything), "min_query_length": query}),
	"users_select":               menu(everywhere, selectable, shape{"initial_user": optional(anyText)}),
	"multi_users_select":         menu(everywhere, multiple, shape{"initial_users": some}),
	"conversations_select":       menu(everywhere, selectable.with(here).with(reply), shape{"initial_conversation": optional(anyText)}),
	"multi_conversations_select": menu(everywhere, multiple.with(here), shape{"initial_conversations": some}),
	"channels_select":            menu(everywhere, selectable.with(reply), shape{"initial_channel": optional(anyText)}),
	"multi_channels_select":      menu(everywhere, multiple, shape{"initial_channels": some}),
	"datepicker":                 menu(everywhere, selectable, shape{"initial_date": dated}),
	"timepicker":                 menu(everywhere, selectable, shape{"initial_time": timed, "timezone": optional(anyText)}),
	"datetimepicker": {inActions | inInput, kind{on: everywhere, shape: confirmable.with(shape{
		"initial_date_time": optional(integer(minSeconds, maxSeconds)), "focus_on_load": optional((*checker).focus),
	})}},
	"plain_text_input": {inInput, kind{on: everywhere, shape: typedIn.with(shape{
		"initial_value": optional(text(0, maxInput)), "multiline": optional(flag),
		"min_length": optional(integer(0, maxInput)), "max_length": optional(integer(1, maxInput)),
	}), more: bounded}},
	"number_input": {inInput, kind{on: everywhere, shape: typedIn.with(shape{
		"is_decimal_allowed": required(flag), "initial_value": float, "min_value": float, "max_value": float,
	}), more: ranged}},
	"email_text_input": {inInput, kind{on: everywhere, shape: typedIn.with(reach)}},
	"url_text_input":   {inInput, kind{on: everywhere, shape: typedIn.with(reach)}},
	"rich_text_input":  {inInput, kind{on: everywhere, shape: typedIn.with(shape{"initial_value": optional(richBlock)})}},
	"file_input": {inInput, kind{on: onModal, shape: interactive.with(shape{
		"filetypes": optional(listOf(1, math.MaxInt32, anyText)), "max_files": optional(integer(1, maxFiles)),
	})}},
	"image": {inSection | inContext, kind{on: everywhere, shape: picture, more: pictured}},
	"workflow_button": {inSection | inActions, kind{
		on: onMessage, shape: interactive.with(labeled).with(styled).with(shape{"workflow": required(anything)}),
	}},
	"feedback_buttons": {inContextActions, kind{
		on: onMessage, shape: interactive.with(shape{"positive_button": required(opinion), "negative_button": required(opinion)}),
	}},
	"icon_button": {inContextActions, kind{on: onMessage, shape: clicked.with(shape{
		"icon": required(oneOf("trash")), "visible_to_user_ids": some,
	})}},
}

// elementIn is the rule for an element in a part of a block.
func elementIn(in part) rule {
	return func(c *checker, at string, v any) {
		e, ok := v.(raw.Object)
		if !ok {
			c.fail(at, "must provide an object")
			return
		}
		k, known := elementKinds[raw.Str(e, "type")]
		switch {
		case known && k.in&in == 0 && k.in == inInput:
			c.fail(at+"/type", "only allowed in input")
			return
		case known && k.in&in == 0 && in == inInput:
			c.fail(at+"/type", "not allowed in input")
			return
		case !known || k.in&in == 0 || k.on&c.on == 0:
			c.fail(at+"/type", "unsupported type: %q", raw.Str(e, "type"))
			return
		}
		c.object(at, e, k.shape)
		if k.more != nil {
			k.more(c, at, e)
		}
	}
}

// anything is the rule for a field that only the complete kind can check.
func anything(*checker, string, any) {}

func (c *checker) actionID(at string, v any) {
	text(1, maxActionID)(c, at, v)
	id, _ := v.(string)
	if c.actions[id] {
		c.fail(at, "`action_id` already exists: %s", id)
	}
	c.actions[id] = true
}

func (c *checker) focus(at string, v any) {
	flag(c, at, v)
	if v == true && c.focused {
		c.fail(at, "only one element can have focus_on_load")
	}
	c.focused = c.focused || v == true
}

var confirm = objectOf(shape{
	"title": required(plain(maxConfirmTitle)), "text": required(prose(maxConfirmText)),
	"confirm": required(plain(maxConfirm)), "deny": required(plain(maxConfirm)), "style": optional(oneOf("primary", "danger")),
})

// opinion is the rule for each of the two feedback buttons.
var opinion = objectOf(shape{
	"text": required(plain(maxButton)), "value": required(text(1, maxButtonValue)), "accessibility_label": optional(text(0, maxButton)),
})

func bounded(c *checker, at string, e raw.Object) {
	least, _ := raw.Number(e, "min_length")
	if most, given := raw.Number(e, "max_length"); given && most < least {
		c.fail(at+"/max_length", "must be more than min_length")
	}
}

func isNumber(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }

func isTime(layout string) func(string) bool {
	return func(s string) bool { _, err := time.Parse(layout, s); return err == nil }
}

func ranged(c *checker, at string, e raw.Object) {
	least, err1 := strconv.ParseFloat(raw.Str(e, "min_value"), 64)
	most, err2 := strconv.ParseFloat(raw.Str(e, "max_value"), 64)
	if err1 == nil && err2 == nil && least > most {
		c.fail(at+"/min_value", "must be less than max_value")
	}
}

// option is the shape of an option. Kinds lists the types of its texts.
func option(kinds ...string) shape {
	return shape{
		"text": required(textObject(maxOption, kinds...)), "value": required(text(1, maxOptionValue)),
		"description": optional(textObject(maxOption, kinds...)),
	}
}

var optionGroup = objectOf(shape{"label": required(plain(maxOption)), "options": required(anything)})

// choices returns the check of the options of an element, or of its groups of
// options.
func choices(most int, option shape) func(c *checker, at string, e raw.Object) {
	single := objectOf(option)
	return func(c *checker, at string, e raw.Object) {
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
			optionGroup(c, at, g)
			c.options(at, raw.List(g, "options"), most, single, seen)
		}
		if len(groups) == 0 {
			c.options(at, raw.List(e, "options"), most, single, seen)
		}
		c.initial(at, e)
	}
}

func (c *checker) options(at string, options []any, most int, single rule, seen map[string]bool) {
	listOf(1, most, func(c *checker, at string, v any) {
		single(c, at, v)
		o, _ := v.(raw.Object)
		if value := raw.Str(o, "value"); seen[value] {
			c.fail(at+"/value", "duplicate value")
		} else {
			seen[value] = true
		}
	})(c, at+"/options", options)
}

// initial checks that the initial options are among the options.
func (c *checker) initial(at string, e raw.Object) {
	initial := slices.Clone(raw.List(e, "initial_options"))
	if o, ok := e["initial_option"]; ok {
		initial = append(initial, o)
	}
	for _, i := range initial {
		if !slices.ContainsFunc(core.Options(e), func(o raw.Object) bool { return same(o, i) }) {
			c.fail(at+"/initial_option", "must be one of the options")
		}
	}
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
