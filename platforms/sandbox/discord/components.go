package discord

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Kinds of components: docs.discord.com/developers/components/reference.
const (
	actionRow     = 1
	button        = 2
	stringSelect  = 3
	textInput     = 4
	userSelect    = 5
	section       = 9
	textDisplay   = 10
	fileShown     = 13
	separator     = 14
	container     = 17
	label         = 18
	radioGroup    = 21
	checkboxGroup = 22
)

// linkButton is the style of a button that opens a page.
const linkButton = 5

func kindOf(o raw.Object) int { n, _ := raw.Number(o, "type"); return int(n) }

// components returns components and all nested components in reading order.
func components(items []any) []raw.Object {
	var out []raw.Object
	for _, o := range raw.All(items) {
		if o == nil {
			continue
		}
		out = append(out, o)
		out = append(out, components(raw.List(o, "components"))...)
		for _, key := range []string{"accessory", "component"} {
			if child := raw.Sub(o, key); child != nil {
				out = append(out, components([]any{child})...)
			}
		}
	}
	return out
}

// numberComponents gives each component without an ID the next free ID.
func numberComponents(items []any) {
	all, used := components(items), map[int]bool{}
	for _, o := range all {
		used[raw.Int(o["id"])] = true
	}
	next := 0
	for _, o := range all {
		if raw.Int(o["id"]) != 0 {
			continue
		}
		for next++; used[next]; next++ {
		}
		o["id"] = float64(next)
	}
}

// componentKinds maps each kind of component to the fields that Discord
// accepts: docs.discord.com/developers/components/reference. Other kinds are
// refused.
var componentKinds map[int]shape

func init() { // components contain components
	componentKinds = map[int]shape{
		actionRow: {whole(row)},
		button: {
			{"style", oneOf(1, 2, 3, 4, linkButton)}, holds(func(o raw.Object) bool {
				return raw.Str(o, "label") != "" || o["emoji"] != nil
			}, "", "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", "A button needs a label or an emoji"), {"label", text(0, maxButton)}, whole(target),
		},
		stringSelect: {
			{"custom_id", customID}, {"placeholder", text(0, maxPlaceholder)}, {"options", options(1, maxOptions)}, whole(amount),
		},
		userSelect: {
			{"custom_id", customID}, {"placeholder", text(0, maxPlaceholder)}, whole(amount), {"options", none}, {"default_values", none},
		},
		textInput: {
			{"custom_id", customID}, {"style", oneOf(1, 2)}, holds(func(o raw.Object) bool {
				least, _ := raw.Number(o, "min_length")
				most, given := raw.Number(o, "max_length")
				return least >= 0 && least <= maxInput && (!given || most >= 1 && most <= maxInput && most >= least)
			}, ".max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and %d.", maxInput), {"value", text(0, maxInput)},
			{"placeholder", text(0, maxInputPlaceholder)},
		},
		section: {
			{"components", between(1, maxSectionTexts, in(textDisplay))}, {"accessory", all(that(func(v any) bool {
				o, _ := v.(raw.Object)
				return kindOf(o) == button
			}, "", "BASE_TYPE_REQUIRED", "This field is required"), in(button))},
		},
		textDisplay: {{"content", displayed}},
		fileShown: {{"file", shape{holds(func(o raw.Object) bool {
			return strings.HasPrefix(raw.Str(o, "url"), "attachment://") || raw.Str(o, "attachment_id") != ""
		}, ".url", "UNFURLED_MEDIA_ITEM_URL_INVALID", "A file must be an attachment of the message: attachment://FILENAME")}.rule}},
		separator: {{"spacing", optional(oneOf(1, 2))}},
		container: {
			{"accent_color", color}, {"components", filled}, {"components", each(in(actionRow, section, textDisplay, fileShown, separator))},
		},
		label: {
			{"label", text(1, maxLabel)}, {"description", text(0, maxLabelDescription)}, {"component", shape{
				holds(func(o raw.Object) bool { _, has := o["label"]; return !has }, ".label", "BASE_TYPE_BAD_LENGTH",
					"Must be between %d and %d in length.", 1, maxLabel), // such an input has no label of its own
				{"", in(stringSelect, textInput, radioGroup, checkboxGroup)},
			}.rule},
		},
		radioGroup:    {{"custom_id", customID}, {"options", options(2, maxRadio)}},
		checkboxGroup: {{"custom_id", customID}, {"options", options(1, maxRadio)}, whole(amount)},
	}
}

// displayed is the rule for the content of a text display. A value other than a
// text counts as an empty text.
func displayed(c *checker, at string, v any) {
	content, _ := v.(string)
	trimmed(1, maxTextDisplay)(c, at, content)
}

// in is the rule for a component in a position that permits only some kinds.
func in(kinds ...int) rule {
	return object(func(c *checker, at string, o raw.Object) {
		if !slices.Contains(kinds, kindOf(o)) {
			choices := listed(kinds)
			if len(kinds) == 1 {
				choices += ","
			}
			c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (%s).", choices)
			return
		}
		componentKinds[kindOf(o)].rule(c, at, o)
	})
}

func customID(c *checker, at string, v any) {
	id, _ := v.(string)
	text(1, maxCustomID)(c, at, id)
	if c.ids[id] {
		c.fail(strings.TrimSuffix(at, ".custom_id"), "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	c.ids[id] = true
}

// row checks an action row. It holds up to five buttons, one select or one text
// input.
func row(c *checker, at string, o raw.Object) {
	children := raw.Objects(o, "components")
	alone := false
	for n, child := range children {
		at := at + ".components." + strconv.Itoa(n)
		alone = alone || kindOf(child) != button
		if kindOf(child) != textInput || !c.modal {
			in(button, stringSelect, userSelect)(c, at, child)
			continue
		}
		componentKinds[textInput].rule(c, at, child)
		text(1, maxLabel)(c, at+".label", child["label"])
	}
	if n := len(children); n < 1 || n > maxRow || alone && n > 1 {
		c.fail(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and %d in length.", maxRow)
	}
}

// target checks the field that a click on a button uses: its custom ID or URL.
func target(c *checker, at string, o raw.Object) {
	name, other, rule := "custom_id", "url", customID
	if raw.Int(o["style"]) == linkButton {
		name, other, rule = "url", "custom_id", text(1, maxURL)
	}
	if raw.Str(o, other) != "" {
		c.fail(at, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", "A custom id and url cannot both be specified")
	}
	rule(c, at+"."+name, o[name])
}

// option is the shape of an option of a select or a group.
var option = shape{{"label", text(1, maxOption)}, {"value", text(1, maxOption)}, {"description", text(0, maxOption)}}

// options is the rule for options with different values.
func options(least, most int) rule {
	return all(between(least, most, option.rule), unique(
		"value", ".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used"))
}

// amount checks min_values and max_values, whose maximum is the number of
// options.
func amount(c *checker, at string, o raw.Object) {
	most := len(raw.List(o, "options"))
	if kindOf(o) == userSelect {
		most = maxOptions
	}
	least, hasLeast := raw.Number(o, "min_values")
	highest, hasMost := raw.Number(o, "max_values")
	switch {
	case hasLeast && (least < 0 || int(least) > most):
		c.fail(at+".min_values", "BASE_TYPE_BAD_LENGTH", "min_values must be between 0 and %d.", most)
	case hasMost && (highest < 1 || int(highest) > most || hasLeast && highest < least):
		c.fail(at+".max_values", "BASE_TYPE_BAD_LENGTH", "max_values must be between 1 and %d, and not below min_values.", most)
	case c.modal && hasLeast && least < 1 && o["required"] != false:
		c.fail(at+".min_values", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
	case c.modal && o["disabled"] == true:
		c.fail(at+".disabled", "COMPONENT_DISABLED", "Components in a modal cannot be disabled")
	}
}

// modalShape is the data of a modal response.
var modalShape = shape{
	{"title", text(1, maxModalTitle)}, {"custom_id", text(1, maxCustomID)},
	{"components", between(1, maxRows, in(actionRow, textDisplay, label))},
}

// CheckModal returns the reason why Discord would refuse the data of a modal
// response, or "".
func CheckModal(encoded []byte) string {
	var d raw.Object
	if err := json.Unmarshal(encoded, &d); err != nil {
		return err.Error()
	}
	return modalShape.check("data", d, true).String()
}

// String returns the message and the errors of a failure, or "".
func (f *failure) String() string {
	if f == nil {
		return ""
	}
	encoded, err := json.Marshal(f.errors)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(f.message, " ", string(encoded))
}
