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

	anywhere = inSection | inActions | inInput
)

// The tables below list the objects that Slack accepts from apps, with all
// limits of Block Kit. Lengths are in characters. Other blocks and elements are
// refused.
var texts = set{
	"plain_text": {shape: shape{"text": required(freeText), "emoji": optional(flag)}},
	"mrkdwn":     {shape: shape{"text": required(freeText), "verbatim": optional(flag)}},
}

// blocks are the blocks of messages and views:
// docs.slack.dev/reference/block-kit/blocks.
var blocks = set{
	"actions": {shape: block(shape{"elements": required(listOf(1, 25, elements.rule(inActions)))})},
	"context": {shape: block(shape{"elements": required(listOf(1, 10, prose(3000)))})},
	"divider": {shape: block(nil)},
	"header":  {shape: block(shape{"text": required(plain(150)), "level": optional(integer(1, 4))})},
	"input": {shape: block(shape{
		"label": required(plain(2000)), "hint": optional(plain(2000)), "element": required(elements.rule(inInput)),
		"optional": optional(flag), "dispatch_action": optional(flag),
	})},
	"rich_text": {shape: block(shape{"elements": required(anyList(lines.rule(0)))})},
	"section": {shape: block(shape{
		"text": optional(prose(3000)), "fields": optional(listOf(1, 10, prose(2000))),
		"accessory": optional(elements.rule(inSection)), "expand": optional(flag),
	}), more: func(c *checker, at string, b raw.Object) {
		if b["text"] == nil && b["fields"] == nil {
			c.fail(at+"/text", "missing required field: text")
		}
	}},
}

// block returns the shape of a block with fields.
func block(fields shape) shape {
	return shape{"block_id": optional((*checker).blockID)}.with(fields)
}

// leaves are the parts of a line of rich text, and lines are the lines:
// docs.slack.dev/reference/block-kit/blocks/rich-text-block.
var (
	leaves = set{
		"date": leaf(shape{
			"timestamp": required(integer(1, maxSeconds)), "format": required(anyText), "fallback": optional(freeText),
			"url": optional(address), "timezone": optional(anyText),
		}),
		"link": leaf(shape{"url": required(address), "text": optional(freeText), "unsafe": optional(flag)}),
		"text": leaf(shape{"text": required(filled)}),
		"user": leaf(shape{"user_id": required(anyText)}),
	}
	line, border = shape{"elements": required(leavesOfLine)}, shape{"border": optional(integer(0, 1))}
	section      = set{"rich_text_section": {shape: line}}
	lines        = set{
		"rich_text_section":      section["rich_text_section"],
		"rich_text_quote":        {shape: line.with(border)},
		"rich_text_preformatted": {shape: line.with(border, shape{"language": optional(anyText)})},
		"rich_text_list": {shape: border.with(shape{
			"elements": required(listOf(1, math.MaxInt32, listItem)), "style": required(oneOf("bullet", "ordered")),
			"indent": optional(value(func(v any) bool { n, ok := v.(float64); return ok && n >= 0 && n <= 8 }, "must be 0 to 8")),
			"offset": optional(integer(0, math.MaxInt32)),
		})},
	}
)

// leaf returns the kind of a part of a line with fields.
func leaf(fields shape) kind {
	return kind{shape: fields.with(shape{"style": optional(objectOf(shape{
		"bold": optional(flag), "italic": optional(flag), "strike": optional(flag), "code": optional(flag),
		"underline": optional(flag), "highlight": optional(flag), "client_highlight": optional(flag), "unlink": optional(flag),
	}))})}
}

// Shapes that elements share: docs.slack.dev/reference/block-kit/block-elements
// and docs.slack.dev/reference/block-kit/composition-objects.
var (
	danger  = optional(oneOf("primary", "danger"))
	confirm = objectOf(shape{
		"title": required(plain(100)), "text": required(prose(300)), "confirm": required(plain(30)), "deny": required(plain(30)),
		"style": danger,
	})
	interactive = shape{"action_id": optional((*checker).actionID)}
	focus       = shape{"focus_on_load": optional((*checker).focus)}
	confirmable = interactive.with(shape{"confirm": optional(confirm)})
	selectable  = confirmable.with(focus, shape{"placeholder": optional(plain(150))})
	multiple    = selectable.with(shape{"max_selected_items": optional(integer(1, math.MaxInt32))})
	ticked      = confirmable.with(focus, shape{"options": required(anything)})
	typedIn     = interactive.with(focus, shape{
		"placeholder": optional(plain(150)),
		"dispatch_action_config": optional(objectOf(shape{
			"trigger_actions_on": optional(listOf(1, 2, oneOf("on_enter_pressed", "on_character_entered"))),
		})),
	})
	grouped = shape{"options": optional(anything), "option_groups": optional(anything)}
	float   = optional(matching(decimal))
)

// keeps returns an element that keeps a member's input, whose initial value has
// a rule.
func keeps(in part, state string, initial rule, s shape, more ...shape) kind {
	return kind{in: in, state: state, shape: s.with(more...).with(shape{"initial_" + state: optional(initial)})}
}

// elements are the interactive elements.
var elements = set{
	"button": {in: inSection | inActions, shape: confirmable.with(shape{
		"text": required(plain(75)), "value": optional(text(0, 2000)), "url": optional(address), "style": danger,
		"accessibility_label": optional(text(0, 75)),
	})},
	"overflow":            {in: inSection | inActions, shape: confirmable.with(shape{"options": required(anything)}), more: menuItems},
	"checkboxes":          keeps(anywhere, "options", anything, ticked).and(fewChoices),
	"radio_buttons":       keeps(anywhere, "option", anything, ticked).and(fewChoices),
	"static_select":       keeps(anywhere, "option", anything, selectable, grouped).and(manyChoices),
	"multi_static_select": keeps(anywhere, "options", anything, multiple, grouped).and(manyChoices),
	"users_select":        keeps(anywhere, "user", anyText, selectable),
	"datepicker":          keeps(anywhere, "date", matching(date), selectable),
	"timepicker":          keeps(anywhere, "time", matching(clock), selectable, shape{"timezone": optional(anyText)}),
	"datetimepicker":      keeps(inActions|inInput, "date_time", integer(minSeconds, maxSeconds), confirmable, focus),
	"plain_text_input": keeps(inInput, "value", text(0, maxInput), typedIn, shape{
		"multiline": optional(flag), "min_length": optional(integer(0, maxInput)), "max_length": optional(integer(1, maxInput)),
	}).and(func(c *checker, at string, e raw.Object) {
		least, _ := raw.Number(e, "min_length")
		if most, given := raw.Number(e, "max_length"); given && most < least {
			c.fail(at+"/max_length", "must be more than min_length")
		}
	}),
	"number_input": keeps(inInput, "value", matching(decimal), typedIn, shape{
		"is_decimal_allowed": required(flag), "min_value": float, "max_value": float,
	}).and(func(c *checker, at string, e raw.Object) {
		least, err1 := decimal(raw.Str(e, "min_value"))
		most, err2 := decimal(raw.Str(e, "max_value"))
		if err1 == nil && err2 == nil && least > most {
			c.fail(at+"/min_value", "must be less than max_value")
		}
	}),
	"email_text_input": keeps(inInput, "value", text(1, maxInput), typedIn),
	"url_text_input":   keeps(inInput, "value", text(1, maxInput), typedIn),
}

// and returns the kind with conditions that its shape cannot express.
func (k kind) and(more func(c *checker, at string, o raw.Object)) kind {
	k.more = more
	return k
}

func decimal(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
func date(s string) (time.Time, error)  { return time.Parse(time.DateOnly, s) }
func clock(s string) (time.Time, error) { return time.Parse("15:04", s) }

func (c *checker) blockID(at string, v any) {
	text(0, 255)(c, at, v)
	if id, _ := v.(string); id != "" {
		c.once(c.blockIDs, id, at, "`block_id` already exists: %s", id)
	}
}

func (c *checker) actionID(at string, v any) {
	text(1, 255)(c, at, v)
	id, _ := v.(string)
	c.once(c.actions, id, at, "`action_id` already exists: %s", id)
}

func (c *checker) focus(at string, v any) {
	flag(c, at, v)
	if v == true && c.focused {
		c.fail(at, "only one element can have focus_on_load")
	}
	c.focused = c.focused || v == true
}

// unlike returns the rule for items whose texts in a field differ.
func unlike(key, why string, item rule) rule {
	seen := map[string]bool{}
	return func(c *checker, at string, v any) {
		item(c, at, v)
		o, _ := v.(raw.Object)
		c.once(seen, raw.Str(o, key), at+"/"+key, "%s", why)
	}
}

func listItem(c *checker, at string, v any) {
	if o, ok := v.(raw.Object); !ok || raw.Str(o, "type") != "rich_text_section" {
		c.fail(at, "list items must be sections")
		return
	}
	section.rule(0)(c, at, v)
}

// leavesOfLine is the rule for the content of a line.
func leavesOfLine(c *checker, at string, v any) {
	if l, ok := v.([]any); ok && len(l) == 0 {
		c.fail(at, "must not be empty")
		return
	}
	anyList(leaves.rule(0))(c, at, v)
}

var (
	fewChoices  = choices(10, option("plain_text", "mrkdwn"))
	manyChoices = choices(100, option("plain_text"))
	menuItems   = choices(5, option("plain_text").with(shape{"url": optional(address)}))
	optionGroup = objectOf(shape{"label": required(plain(75)), "options": required(anything)})
)

// option is the shape of an option. Kinds lists the types of its texts.
func option(kinds ...string) shape {
	words := textObject(75, kinds...)
	return shape{"text": required(words), "value": required(text(1, 150)), "description": optional(words)}
}

// choices returns the check of the options of an element, or of its groups of
// options.
func choices(most int, option shape) func(c *checker, at string, e raw.Object) {
	return func(c *checker, at string, e raw.Object) {
		const maxGroups = 100
		groups := raw.Objects(e, "option_groups")
		if (len(groups) == 0) == (len(raw.Objects(e, "options")) == 0) {
			c.fail(at, "exactly one of options and option_groups is needed")
		}
		if len(groups) > maxGroups {
			c.fail(at+"/option_groups", "no more than %d items allowed", maxGroups)
		}
		several := listOf(1, most, unlike("value", "duplicate value", objectOf(option)))
		for n, g := range groups {
			at := fmt.Sprintf("%s/option_groups/%d", at, n)
			optionGroup(c, at, g)
			several(c, at+"/options", raw.List(g, "options"))
		}
		if len(groups) == 0 {
			several(c, at+"/options", raw.List(e, "options"))
		}
		for _, i := range initialOptions(e) {
			if !slices.ContainsFunc(core.Options(e), func(o raw.Object) bool { return same(o, i) }) {
				c.fail(at+"/initial_option", "must be one of the options")
			}
		}
	}
}

// initialOptions returns the initial options of an element.
func initialOptions(e raw.Object) []any {
	initial := slices.Clone(raw.List(e, "initial_options"))
	if o, ok := e["initial_option"]; ok {
		initial = append(initial, o)
	}
	return initial
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
