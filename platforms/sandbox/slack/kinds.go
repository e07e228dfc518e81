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

// A part is a surface that shows blocks, or a part of a block that contains
// elements.
type part uint8

const (
	onMessage part = 1 << iota
	onModal
	onHome
	inSection
	inActions
	inInput
	inContext
	inContextActions

	everywhere = onMessage | onModal | onHome
	inMenus    = inSection | inActions | inInput
)

// The objects that Slack accepts from apps, with all limits of Block Kit.
// Lengths are in characters.
var blocks, elements, leaves, lines, cells, sources, richBlocks, tasks set

var texts = set{
	"plain_text": {shape: shape{"text": required(freeText), "emoji": optional(flag)}},
	"mrkdwn":     {shape: shape{"text": required(freeText), "verbatim": optional(flag)}},
}

func init() { // docs.slack.dev/reference/block-kit/blocks
	align := objectOf(shape{"align": optional(oneOf("left", "center", "right")), "is_wrapped": optional(flag)})
	card := kind{in: onMessage, shape: shape{
		"task_id": required(anyText), "title": required(anyText), "hide_title": optional(flag),
		"status":  optional(oneOf("pending", "in_progress", "complete", "error")),
		"details": optional(richBlocks.rule(0)), "output": optional(richBlocks.rule(0)), "sources": optional(anyList(sources.rule(0))),
	}}
	blocks = set{
		"actions": {shape: shape{"elements": required(listOf(1, 25, elements.rule(inActions)))}},
		"alert": {in: onModal, shape: shape{
			"text": required(prose(200)), "level": optional(oneOf("default", "info", "warning", "error", "success")),
		}},
		"context":         {shape: shape{"elements": required(listOf(1, 10, contextItem))}},
		"context_actions": {in: onMessage, shape: shape{"elements": required(listOf(1, 5, elements.rule(inContextActions)))}},
		"divider":         {shape: shape{}},
		"header":          {shape: shape{"text": required(plain(150)), "level": optional(integer(1, 4))}},
		"image":           {shape: picture.with(shape{"title": optional(plain(2000))}), more: pictured},
		"input": {shape: shape{
			"label": required(plain(2000)), "hint": optional(plain(2000)), "element": required(elements.rule(inInput)),
			"optional": optional(flag), "dispatch_action": optional(flag),
		}},
		"markdown":  {in: onMessage, shape: shape{"text": required(text(1, maxMarkdown))}, more: (*checker).allMarkdown},
		"plan":      {in: onMessage, shape: shape{"title": required(anyText), "tasks": optional(differentTasks)}},
		"rich_text": {shape: shape{"elements": required(anyList(lines.rule(0)))}},
		"section": {shape: shape{
			"text": optional(prose(3000)), "fields": optional(listOf(1, 10, prose(2000))),
			"accessory": optional(elements.rule(inSection)), "expand": optional(flag),
		}, more: func(c *checker, at string, b raw.Object) {
			if b["text"] == nil && b["fields"] == nil {
				c.fail(at+"/text", "missing required field: text")
			}
		}},
		"table": {in: onMessage, shape: shape{
			"rows": required(listOf(1, 100, listOf(1, 20, cells.rule(0)))),
			"column_settings": optional(listOf(0, 20, func(c *checker, at string, v any) {
				if v != nil { // an empty column keeps the defaults
					align(c, at, v)
				}
			})),
		}, more: (*checker).allTables},
		"task_card": card,
	}
	for name, k := range blocks {
		k.shape = k.shape.with(shape{"block_id": optional((*checker).blockID)})
		blocks[name] = k
	}
	tasks = set{"task_card": blocks["task_card"]}
	richBlocks = set{"rich_text": {shape: shape{"elements": required(anyList(lines.rule(0))), "block_id": optional(text(0, 255))}}}
	sources = set{"url": {shape: shape{"url": required(address), "text": required(text(1, 2000))}}}
	cells = set{
		"raw_text":   {shape: shape{"text": required(text(0, maxTable))}},
		"raw_number": {shape: shape{"value": required(number), "text": optional(text(0, maxTable))}},
		"rich_text":  richBlocks["rich_text"],
	}
}

func init() { // docs.slack.dev/reference/block-kit/blocks/rich-text-block
	style := objectOf(shape{
		"bold": optional(flag), "italic": optional(flag), "strike": optional(flag), "code": optional(flag),
		"underline": optional(flag), "highlight": optional(flag), "client_highlight": optional(flag), "unlink": optional(flag),
	})
	leaves = set{
		"broadcast": {shape: shape{"range": required(oneOf("here", "channel", "everyone"))}},
		"channel":   {shape: shape{"channel_id": required(anyText)}},
		"color":     {shape: shape{"value": required(anyText)}},
		"date": {shape: shape{
			"timestamp": required(integer(1, maxSeconds)), "format": required(anyText), "fallback": optional(freeText),
			"url": optional(address), "timezone": optional(anyText),
		}},
		"emoji": {shape: shape{
			"name": required(anyText), "unicode": optional(anyText), "skin_tone": optional(integer(1, 6)), "url": optional(address),
		}},
		"link":      {shape: shape{"url": required(address), "text": optional(freeText), "unsafe": optional(flag)}},
		"team":      {shape: shape{"team_id": required(anyText)}},
		"text":      {shape: shape{"text": required(filled)}},
		"user":      {shape: shape{"user_id": required(anyText)}},
		"usergroup": {shape: shape{"usergroup_id": required(anyText)}},
	}
	for name, k := range leaves {
		leaves[name] = kind{shape: k.shape.with(shape{"style": optional(style)})}
	}
	line, border := shape{"elements": required(leavesOfLine)}, shape{"border": optional(integer(0, 1))}
	lines = set{
		"rich_text_section":      {shape: line},
		"rich_text_quote":        {shape: line.with(border)},
		"rich_text_preformatted": {shape: line.with(border, shape{"language": optional(anyText)})},
		"rich_text_list": {shape: border.with(shape{
			"elements": required(listOf(1, math.MaxInt32, listItem)), "style": required(oneOf("bullet", "ordered")),
			"indent": optional(value(func(v any) bool { n, ok := v.(float64); return ok && n >= 0 && n <= 8 }, "must be 0 to 8")),
			"offset": optional(integer(0, math.MaxInt32)),
		})},
	}
}

// Shapes that elements share: docs.slack.dev/reference/block-kit/block-elements
// and docs.slack.dev/reference/block-kit/composition-objects.
var (
	danger  = optional(oneOf("primary", "danger"))
	confirm = objectOf(shape{
		"title": required(plain(100)), "text": required(prose(300)), "confirm": required(plain(30)), "deny": required(plain(30)),
		"style": danger,
	})
	// opinion is the shape of a feedback button.
	opinion = required(objectOf(shape{
		"text": required(plain(75)), "value": required(text(1, 2000)), "accessibility_label": optional(text(0, 75)),
	}))
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
	labeled = interactive.with(shape{"text": required(plain(75)), "accessibility_label": optional(text(0, 75))})
	clicked = confirmable.with(labeled, shape{"value": optional(text(0, 2000))})
	styled  = shape{"style": danger}
	filter  = optional(objectOf(shape{
		"include":                          optional(listOf(1, 4, oneOf("im", "mpim", "private", "public"))),
		"exclude_external_shared_channels": optional(flag), "exclude_bot_users": optional(flag),
	}))
	here    = shape{"default_to_current_conversation": optional(flag), "filter": filter}
	reply   = shape{"response_url_enabled": optional(flag)}
	queried = shape{"min_query_length": optional(integer(0, math.MaxInt32))}
	float   = optional(matching(decimal))
)

// keeps returns an element that keeps a member's input, whose initial value has
// a rule.
func keeps(in part, state string, initial rule, s shape, more ...shape) kind {
	return kind{in: in, state: state, shape: s.with(more...).with(shape{"initial_" + state: optional(initial)})}
}

func init() { // the elements contain rich text
	reach := text(1, maxInput)
	elements = set{
		"button":                     {in: inSection | inActions, shape: clicked.with(styled, shape{"url": optional(address)})},
		"checkboxes":                 keeps(inMenus, "options", anything, ticked).and(fewChoices),
		"radio_buttons":              keeps(inMenus, "option", anything, ticked).and(fewChoices),
		"overflow":                   {in: inSection | inActions, shape: confirmable.with(shape{"options": required(anything)}), more: menuItems},
		"static_select":              keeps(inMenus, "option", anything, selectable, grouped).and(manyChoices),
		"multi_static_select":        keeps(inMenus, "options", anything, multiple, grouped).and(manyChoices),
		"external_select":            keeps(inMenus, "option", anything, selectable, queried),
		"multi_external_select":      keeps(inMenus, "options", anything, multiple, queried),
		"users_select":               keeps(inMenus, "user", anyText, selectable),
		"multi_users_select":         keeps(inMenus, "users", anyList(anyText), multiple),
		"conversations_select":       keeps(inMenus, "conversation", anyText, selectable, here, reply),
		"multi_conversations_select": keeps(inMenus, "conversations", anyList(anyText), multiple, here),
		"channels_select":            keeps(inMenus, "channel", anyText, selectable, reply),
		"multi_channels_select":      keeps(inMenus, "channels", anyList(anyText), multiple),
		"datepicker":                 keeps(inMenus, "date", matching(date), selectable),
		"timepicker":                 keeps(inMenus, "time", matching(clock), selectable, shape{"timezone": optional(anyText)}),
		"datetimepicker":             keeps(inActions|inInput, "date_time", integer(minSeconds, maxSeconds), confirmable, focus),
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
		"email_text_input": keeps(inInput, "value", reach, typedIn),
		"url_text_input":   keeps(inInput, "value", reach, typedIn),
		"rich_text_input":  keeps(inInput, "value", richBlocks.rule(0), typedIn),
		"file_input": {in: onModal | inInput, state: "files", shape: interactive.with(shape{
			"filetypes": optional(listOf(1, math.MaxInt32, anyText)), "max_files": optional(integer(1, 10)),
		})},
		"image":            {in: inSection | inContext, shape: picture, more: pictured},
		"workflow_button":  {in: onMessage | inSection | inActions, shape: labeled.with(styled, shape{"workflow": required(anything)})},
		"feedback_buttons": {in: inContextActions, shape: interactive.with(shape{"positive_button": opinion, "negative_button": opinion})},
		"icon_button": {in: inContextActions, shape: clicked.with(shape{
			"icon": required(oneOf("trash")), "visible_to_user_ids": optional(anyList(anyText)),
		})},
	}
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

// contextItem is the rule for an element of a context block.
func contextItem(c *checker, at string, v any) {
	if o, ok := v.(raw.Object); ok && raw.Str(o, "type") == "image" {
		elements.rule(inContext)(c, at, v)
		return
	}
	prose(3000)(c, at, v)
}

// picture is the shape of an image, as a block and as an element.
var picture = shape{
	"alt_text": required(text(1, 2000)), "image_url": optional(address),
	"slack_file": optional(objectOf(shape{"id": optional(text(1, maxURL)), "url": optional(address)})),
}

func pictured(c *checker, at string, o raw.Object) {
	if (o["image_url"] == nil) == (o["slack_file"] == nil) {
		c.fail(at, "exactly one of image_url and slack_file is needed")
	}
}

func (c *checker) allMarkdown(at string, b raw.Object) {
	if c.markdown += units(raw.Str(b, "text")); c.markdown > maxMarkdown {
		c.fail(at+"/text", "all markdown blocks together must be at most %d characters", maxMarkdown)
	}
}

func (c *checker) allTables(at string, b raw.Object) {
	if c.tables++; c.tables > 1 {
		c.fail(at, "only_one_table_allowed")
	}
	n := 0
	for _, row := range raw.List(b, "rows") {
		cells, _ := row.([]any)
		for _, o := range raw.All(cells) {
			n += units(raw.Texts(o))
		}
	}
	if n > maxTable {
		c.fail(at+"/rows", "all cells together must be at most %d characters", maxTable)
	}
}

// differentTasks is the rule for the tasks of a plan.
func differentTasks(c *checker, at string, v any) {
	listOf(0, 50, unlike("task_id", "duplicate task_id", tasks.rule(0)))(c, at, v)
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
	lines.rule(0)(c, at, v)
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
