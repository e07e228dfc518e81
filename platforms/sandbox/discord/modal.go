package discord

import (
	"encoding/json"
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
	switch kindOf(child) {
	case stringSelect:
		c.selectMenu(at, child)
	case textInput:
		c.textInput(at, child)
	case radioGroup:
		c.options(at, child, 2, maxRadio)
	case checkboxGroup:
		c.options(at, child, 1, maxRadio)
		least, given := raw.Number(child, "min_values")
		if given && (least < 0 || least > maxRadio || least < 1 && child["required"] != false) {
			c.fail(at+".min_values", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
		}
	case checkbox:
	default:
		c.kind(at, "3, 4, 5, 6, 7, 8, 19, 21, 22, 23")
	}
}

func (c *checker) selectMenu(at string, o raw.Object) {
	c.length(at+".placeholder", o["placeholder"], 0, maxPlaceholder)
	c.options(at, o, 1, maxOptions)
	least, hasLeast := raw.Number(o, "min_values")
	most, hasMost := raw.Number(o, "max_values")
	if hasLeast && (least < 0 || least > maxOptions) || hasMost && (most < 1 || int(most) > len(raw.List(o, "options"))) {
		c.fail(at+".max_values", "BASE_TYPE_BAD_LENGTH", "min_values and max_values must fit the options.")
	}
	if !c.modal {
		return
	}
	if o["disabled"] == true {
		c.fail(at+".disabled", "COMPONENT_DISABLED", "Components in a modal cannot be disabled")
	}
	if hasLeast && least < 1 && o["required"] != false {
		c.fail(at+".min_values", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
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
