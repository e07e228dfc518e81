package discord

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// checkModal checks the data of a modal response.
func checkModal(d raw.Object) *failure {
	c := checker{ids: map[string]bool{}, modal: true}
	c.length("data.title", d["title"], 1, maxModalTitle)
	c.length("data.custom_id", d["custom_id"], 1, maxCustomID)
	rows := raw.Objects(d, "components")
	c.count("data.components", len(rows), 1, maxRows)
	for n, o := range rows {
		at := "data.components." + strconv.Itoa(n)
		switch kindOf(o) {
		case actionRow:
			c.row(at, o)
		case textDisplay:
			c.length(at+".content", o["content"], 1, maxTextDisplay)
		case label:
			c.label(at, o)
		default:
			c.kind(at, "1, 10, 18")
		}
	}
	return c.bad
}

// CheckModal returns the reason why Discord would refuse the data of a modal
// response, or "".
func CheckModal(encoded []byte) string {
	var d raw.Object
	if err := json.Unmarshal(encoded, &d); err != nil {
		return err.Error()
	}
	bad := checkModal(d)
	if bad == nil {
		return ""
	}
	b, err := json.Marshal(bad.errors)
	if err != nil {
		return err.Error()
	}
	return bad.message + " " + string(b)
}

func (c *checker) label(at string, o raw.Object) {
	c.length(at+".label", o["label"], 1, maxLabel)
	c.length(at+".description", o["description"], 0, maxLabelDescription)
	child := raw.Sub(o, "component")
	at += ".component"
	if _, ok := child["label"]; ok {
		c.fail(at+".label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and %d in length.", maxLabel)
	}
	c.customID(at, child)
	switch kind := kindOf(child); {
	case kind == stringSelect:
		c.selectMenu(at, child)
	case picksEntity(kind):
		c.entitySelect(at, child)
	case kind == textInput:
		c.textInput(at, child)
	case kind == radioGroup:
		c.options(at, child, 2, maxRadio)
	case kind == checkboxGroup:
		c.options(at, child, 1, maxRadio)
		c.amount(at, child, len(raw.List(child, "options")))
	case kind == fileUpload:
		c.amount(at, child, maxUploads)
	case kind == checkbox:
		if child["required"] == true {
			c.fail(at+".required", "COMPONENT_INVALID_REQUIRED", "A checkbox cannot be required")
		}
	default:
		c.kind(at, "3, 4, 5, 6, 7, 8, 19, 21, 22, 23")
	}
}

// amount checks min_values and max_values, of which a component takes at most
// most.
func (c *checker) amount(at string, o raw.Object, most int) {
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

func (c *checker) selectMenu(at string, o raw.Object) {
	c.length(at+".placeholder", o["placeholder"], 0, maxPlaceholder)
	c.options(at, o, 1, maxOptions)
	c.amount(at, o, len(raw.List(o, "options")))
}

// entitySelect checks a select of users, roles or channels.
func (c *checker) entitySelect(at string, o raw.Object) {
	c.length(at+".placeholder", o["placeholder"], 0, maxPlaceholder)
	c.amount(at, o, maxOptions)
	if len(raw.List(o, "options")) > 0 {
		c.fail(at+".options", "BASE_TYPE_BAD_LENGTH", "Must be 0 in length.")
	}
	kinds := map[int][]string{
		userSelect: {"user"}, roleSelect: {"role"}, anySelect: {"user", "role"}, channelSelect: {"channel"},
	}[kindOf(o)]
	for n, v := range raw.Objects(o, "default_values") {
		if !slices.Contains(kinds, raw.Str(v, "type")) || !snowflakeLike.MatchString(raw.Str(v, "id")) {
			c.fail(at+".default_values."+strconv.Itoa(n), "BASE_TYPE_CHOICES", "Value must be one of %q with an id.", kinds)
		}
	}
}

func (c *checker) options(at string, o raw.Object, least, most int) {
	options := raw.Objects(o, "options")
	c.count(at+".options", len(options), least, most)
	seen := map[string]bool{}
	for n, opt := range options {
		at := at + ".options." + strconv.Itoa(n)
		c.length(at+".label", opt["label"], 1, maxOption)
		c.length(at+".value", opt["value"], 1, maxOption)
		c.length(at+".description", opt["description"], 0, maxOption)
		if seen[raw.Str(opt, "value")] {
			c.fail(at+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		seen[raw.Str(opt, "value")] = true
	}
}

func (c *checker) textInput(at string, o raw.Object) {
	if s, _ := raw.Number(o, "style"); s != 1 && s != 2 {
		c.fail(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
	}
	least, _ := raw.Number(o, "min_length")
	most, given := raw.Number(o, "max_length")
	if least < 0 || least > maxInput || given && (most < 1 || most > maxInput || most < least) {
		c.fail(at+".max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and %d.", maxInput)
	}
	c.length(at+".value", o["value"], 0, maxInput)
	c.length(at+".placeholder", o["placeholder"], 0, maxInputPlaceholder)
}
