package sandbox

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// discordInvalid is "Invalid Form Body" with one error at a dotted path.
func discordInvalid(path, code, message string) *discordFailure {
	leaf := object{"_errors": []any{object{"code": code, "message": message}}}
	parts := strings.Split(path, ".")
	for n := len(parts) - 1; n >= 0; n-- {
		leaf = object{parts[n]: leaf}
	}
	return &discordFailure{400, 50035, "Invalid Form Body", leaf}
}

type discordChecker struct {
	bad   *discordFailure
	ids   map[string]bool
	modal bool
}

func (c *discordChecker) fail(path, code, format string, args ...any) {
	if c.bad == nil {
		c.bad = discordInvalid(path, code, fmt.Sprintf(format, args...))
	}
}

// length checks a text in code points, trimmed as Discord does.
func (c *discordChecker) length(path string, v any, least, most int) {
	s, ok := v.(string)
	if !ok && v != nil {
		c.fail(path, "STRING_TYPE_CONVERT", "Could not interpret %v as string.", v)
		return
	}
	if n := runes(s); n < least || n > most {
		c.fail(path, "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
	}
}

// checkDiscordMessage checks a message against the documented limits. Files
// means that it has attachments.
func checkDiscordMessage(m object, files bool) *discordFailure {
	if discordFlags(m)&discordV2 != 0 {
		return checkDiscordLayout(m)
	}
	c := discordChecker{ids: map[string]bool{}}
	c.length("content", m["content"], 0, 2000)
	if len(list(m, "embeds")) > 10 {
		c.fail("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	total := 0
	for n, v := range list(m, "embeds") {
		e, _ := v.(object)
		total += c.embed("embeds."+strconv.Itoa(n), e)
	}
	if total > 6000 {
		c.fail("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
	if len(list(m, "components")) > 5 {
		c.fail("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	for n, v := range list(m, "components") {
		row, _ := v.(object)
		c.row("components."+strconv.Itoa(n), row)
	}
	if c.bad == nil && str(m, "content") == "" && len(list(m, "embeds")) == 0 && len(list(m, "components")) == 0 && !files {
		return &discordFailure{400, 50006, "Cannot send an empty message", nil}
	}
	return c.bad
}

func (c *discordChecker) embed(at string, e object) int {
	total := 0
	part := func(name string, v any, most int) {
		if v == nil {
			return
		}
		s, _ := v.(string)
		s = strings.TrimSpace(s)
		c.length(at+"."+name, s, 0, most)
		total += runes(s)
	}
	part("title", e["title"], 256)
	part("description", e["description"], 4096)
	part("footer.text", sub(e, "footer")["text"], 2048)
	part("author.name", sub(e, "author")["name"], 256)
	if len(list(e, "fields")) > 25 {
		c.fail(at+".fields", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	for n, v := range list(e, "fields") {
		f, _ := v.(object)
		for key, most := range map[string]int{"name": 256, "value": 1024} {
			c.length(fmt.Sprintf("%s.fields.%d.%s", at, n, key), f[key], 1, most)
			total += runes(str(f, key))
		}
	}
	if color, ok := number(e, "color"); ok && (color < 0 || color > 0xffffff) {
		c.fail(at+".color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
	}
	return total
}

func kindOf(o object) int { n, _ := number(o, "type"); return int(n) }

func (c *discordChecker) customID(at string, o object) {
	id := str(o, "custom_id")
	c.length(at+".custom_id", id, 1, 100)
	if c.ids[id] {
		c.fail(at, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	c.ids[id] = true
}

func (c *discordChecker) row(at string, row object) {
	if kindOf(row) != 1 {
		c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
		return
	}
	children := list(row, "components")
	selects := 0
	for n, v := range children {
		o, _ := v.(object)
		at := at + ".components." + strconv.Itoa(n)
		switch kind := kindOf(o); {
		case kind == 2:
			c.button(at, o)
		case kind == 3:
			selects++
			c.customID(at, o)
			c.selectMenu(at, o)
		case kind == 4 && c.modal:
			selects++
			c.customID(at, o)
			c.textInput(at, o)
			c.length(at+".label", o["label"], 1, 45)
		case kind >= 5 && kind <= 8:
			selects++
			c.customID(at, o)
		default:
			c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (2, 3, 5, 6, 7, 8).")
		}
	}
	if len(children) < 1 || len(children) > 5 || selects > 1 || selects == 1 && len(children) > 1 {
		c.fail(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
}

func (c *discordChecker) button(at string, o object) {
	style, _ := number(o, "style")
	if style < 1 || style > 6 {
		c.fail(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
	}
	if str(o, "label") == "" && o["emoji"] == nil && style != 6 {
		c.fail(at, "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", "A button needs a label or an emoji")
	}
	c.length(at+".label", o["label"], 0, 80)
	if style == 6 {
		c.length(at+".sku_id", o["sku_id"], 1, 20)
		return
	}
	if style == 5 {
		if str(o, "custom_id") != "" {
			c.fail(at, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", "A custom id and url cannot both be specified")
		}
		c.length(at+".url", o["url"], 1, 512)
		return
	}
	if str(o, "url") != "" {
		c.fail(at, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", "A custom id and url cannot both be specified")
	}
	c.customID(at, o)
}

func (c *discordChecker) selectMenu(at string, o object) {
	c.length(at+".placeholder", o["placeholder"], 0, 150)
	c.options(at, o, 1, 25)
	least, hasLeast := number(o, "min_values")
	most, hasMost := number(o, "max_values")
	if hasLeast && (least < 0 || least > 25) || hasMost && (most < 1 || int(most) > len(list(o, "options"))) {
		c.fail(at+".max_values", "BASE_TYPE_BAD_LENGTH", "min_values and max_values must fit the options.")
	}
	if c.modal {
		if o["disabled"] == true {
			c.fail(at+".disabled", "COMPONENT_DISABLED", "Components in a modal cannot be disabled")
		}
		if hasLeast && least < 1 && o["required"] != false {
			c.fail(at+".min_values", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
		}
	}
}

func (c *discordChecker) options(at string, o object, least, most int) {
	options := list(o, "options")
	if len(options) < least || len(options) > most {
		c.fail(at+".options", "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
	}
	seen := map[string]bool{}
	for n, v := range options {
		opt, _ := v.(object)
		at := at + ".options." + strconv.Itoa(n)
		c.length(at+".label", opt["label"], 1, 100)
		c.length(at+".value", opt["value"], 1, 100)
		c.length(at+".description", opt["description"], 0, 100)
		if seen[str(opt, "value")] {
			c.fail(at+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		seen[str(opt, "value")] = true
	}
}

func (c *discordChecker) textInput(at string, o object) {
	if s, _ := number(o, "style"); s != 1 && s != 2 {
		c.fail(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
	}
	least, _ := number(o, "min_length")
	most, given := number(o, "max_length")
	if least < 0 || least > 4000 || given && (most < 1 || most > 4000 || most < least) {
		c.fail(at+".max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and 4000.")
	}
	c.length(at+".value", o["value"], 0, 4000)
	c.length(at+".placeholder", o["placeholder"], 0, 100)
}

// checkDiscordModal checks the data of a modal response.
func checkDiscordModal(d object) *discordFailure {
	c := discordChecker{ids: map[string]bool{}, modal: true}
	c.length("data.title", d["title"], 1, 45)
	c.length("data.custom_id", d["custom_id"], 1, 100)
	rows := list(d, "components")
	if len(rows) < 1 || len(rows) > 5 {
		c.fail("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	for n, v := range rows {
		o, _ := v.(object)
		at := "data.components." + strconv.Itoa(n)
		switch kindOf(o) {
		case 1:
			c.row(at, o)
		case 10:
			c.length(at+".content", o["content"], 1, 4000)
		case 18:
			c.label(at, o)
		default:
			c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 10, 18).")
		}
	}
	return c.bad
}

func (c *discordChecker) label(at string, o object) {
	c.length(at+".label", o["label"], 1, 45)
	c.length(at+".description", o["description"], 0, 100)
	child := sub(o, "component")
	at += ".component"
	if _, ok := child["label"]; ok {
		c.fail(at+".label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
	}
	c.customID(at, child)
	switch kindOf(child) {
	case 3:
		c.selectMenu(at, child)
	case 4:
		c.textInput(at, child)
	case 21:
		c.options(at, child, 2, 10)
	case 22:
		c.options(at, child, 1, 10)
		least, given := number(child, "min_values")
		if given && (least < 0 || least > 10 || least < 1 && child["required"] != false) {
			c.fail(at+".min_values", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
		}
	case 23:
	default:
		c.fail(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (3, 4, 5, 6, 7, 8, 19, 21, 22, 23).")
	}
}

// CheckDiscordModal reports what Discord would refuse in the data of a modal
// response; empty if nothing.
func CheckDiscordModal(raw []byte) string {
	var d object
	if err := json.Unmarshal(raw, &d); err != nil {
		return err.Error()
	}
	bad := checkDiscordModal(d)
	if bad == nil {
		return ""
	}
	b, err := json.Marshal(bad.errors)
	if err != nil {
		return err.Error()
	}
	return bad.message + " " + string(b)
}
