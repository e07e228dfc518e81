package discord

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// checker keeps the first mistake that Discord would refuse.
type checker struct {
	bad   *failure
	ids   map[string]bool
	modal bool
}

func (c *checker) fail(path, code, format string, args ...any) {
	if c.bad == nil {
		c.bad = invalid(path, code, fmt.Sprintf(format, args...))
	}
}

// kind refuses the type of a component.
func (c *checker) kind(path, choices string) {
	c.fail(path+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (%s).", choices)
}

func badLength(path string, least, most int) *failure {
	return invalid(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
}

// count checks the number of items.
func (c *checker) count(path string, n, least, most int) {
	if c.bad == nil && (n < least || n > most) {
		c.bad = badLength(path, least, most)
	}
}

// length checks a text in code points.
func (c *checker) length(path string, v any, least, most int) {
	s, ok := v.(string)
	if !ok && v != nil {
		c.fail(path, "STRING_TYPE_CONVERT", "Could not interpret %v as string.", v)
		return
	}
	c.count(path, raw.Runes(s), least, most)
}

func (c *checker) color(path string, o raw.Object, key string) {
	if color, ok := raw.Number(o, key); ok && (color < 0 || color > maxColor) {
		c.fail(path, "NUMBER_TYPE_MAX", "int value should be less than or equal to %d.", maxColor)
	}
}

// atMost checks that there are not too many items.
func (c *checker) atMost(path string, n, most int) {
	if n > most {
		c.fail(path, "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", most)
	}
}

// checkMessage checks a message against the documented limits. Files reports
// whether the message has attachments.
func checkMessage(m raw.Object, files bool) *failure {
	if flags(m)&componentsV2 != 0 {
		return checkLayout(m)
	}
	c := checker{ids: map[string]bool{}}
	c.length("content", m["content"], 0, maxContent)
	embeds, rows := raw.Objects(m, "embeds"), raw.Objects(m, "components")
	c.atMost("embeds", len(embeds), maxEmbeds)
	total := 0
	for n, e := range embeds {
		total += c.embed("embeds."+strconv.Itoa(n), e)
	}
	if total > maxEmbedsText {
		c.fail("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of %d", maxEmbedsText)
	}
	if len(rows) > maxRows {
		c.count("components", len(rows), 1, maxRows)
	}
	for n, row := range rows {
		c.row("components."+strconv.Itoa(n), row)
	}
	if c.bad == nil && raw.Str(m, "content") == "" && len(embeds) == 0 && len(rows) == 0 && !files {
		return emptyMessage
	}
	return c.bad
}

// CheckMessage returns the reason why Discord would refuse the body of a
// message, or "".
func CheckMessage(m raw.Object) string {
	if bad := checkMessage(m, len(raw.List(m, "attachments")) > 0); bad != nil {
		return fmt.Sprint(bad.message, " ", bad.errors)
	}
	return ""
}

// embed checks an embed and returns the length of its text.
func (c *checker) embed(at string, e raw.Object) int {
	total := 0
	if e == nil {
		c.fail(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
	}
	part := func(name string, v any, most int) {
		if s, text := v.(string); text {
			v = strings.TrimSpace(s)
			total += raw.Runes(strings.TrimSpace(s))
		}
		c.length(at+"."+name, v, 0, most)
	}
	part("title", e["title"], maxEmbedTitle)
	part("description", e["description"], maxEmbedText)
	part("footer.text", raw.Sub(e, "footer")["text"], maxEmbedFooter)
	part("author.name", raw.Sub(e, "author")["name"], maxEmbedTitle)
	c.atMost(at+".fields", len(raw.List(e, "fields")), maxEmbedFields)
	for n, f := range raw.Objects(e, "fields") {
		at := fmt.Sprintf("%s.fields.%d.", at, n)
		c.length(at+"name", f["name"], 1, maxEmbedTitle)
		c.length(at+"value", f["value"], 1, maxEmbedFieldValue)
		total += raw.Runes(raw.Str(f, "name")) + raw.Runes(raw.Str(f, "value"))
	}
	c.color(at+".color", e, "color")
	return total
}

func (c *checker) customID(at string, o raw.Object) {
	id := raw.Str(o, "custom_id")
	c.length(at+".custom_id", id, 1, maxCustomID)
	if c.ids[id] {
		c.fail(at, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	c.ids[id] = true
}

// row checks an action row. It holds up to five buttons, one select or one text
// input.
func (c *checker) row(at string, row raw.Object) {
	if kindOf(row) != actionRow {
		c.kind(at, "1,")
		return
	}
	children := raw.Objects(row, "components")
	alone := false
	for n, o := range children {
		at := at + ".components." + strconv.Itoa(n)
		alone = alone || kindOf(o) != button
		c.inRow(at, o)
	}
	if n := len(children); n < 1 || n > maxRow || alone && n > 1 {
		c.fail(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and %d in length.", maxRow)
	}
}

func (c *checker) inRow(at string, o raw.Object) {
	switch kind := kindOf(o); {
	case kind == button:
		c.button(at, o)
	case kind == stringSelect:
		c.customID(at, o)
		c.selectMenu(at, o)
	case kind == textInput && c.modal:
		c.customID(at, o)
		c.textInput(at, o)
		c.length(at+".label", o["label"], 1, maxLabel)
	case picksEntity(kind):
		c.customID(at, o)
		c.entitySelect(at, o)
	default:
		c.kind(at, "2, 3, 5, 6, 7, 8")
	}
}

func (c *checker) button(at string, o raw.Object) {
	style, _ := raw.Number(o, "style")
	if style < 1 || style > 6 {
		c.fail(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
	}
	if raw.Str(o, "label") == "" && o["emoji"] == nil && style != premiumButton {
		c.fail(at, "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", "A button needs a label or an emoji")
	}
	c.length(at+".label", o["label"], 0, maxButton)
	const both = "A custom id and url cannot both be specified"
	switch style {
	case premiumButton:
		c.length(at+".sku_id", o["sku_id"], 1, maxSKU)
	case linkButton:
		if raw.Str(o, "custom_id") != "" {
			c.fail(at, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", both)
		}
		c.length(at+".url", o["url"], 1, maxURL)
	default:
		if raw.Str(o, "url") != "" {
			c.fail(at, "BUTTON_COMPONENT_CUSTOM_ID_AND_URL", both)
		}
		c.customID(at, o)
	}
}
