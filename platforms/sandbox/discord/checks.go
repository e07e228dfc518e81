package discord

import (
	"fmt"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var (
	// requestShape is the part of a request that does not belong to the message
	// itself.
	requestShape = shape{
		{"allowed_mentions", optional(all(dictionary, mentionShape.rule))}, {"embeds", optional(iterable)}, {"components", optional(iterable)},
	}
	// messageShape is a message without the flag IS_COMPONENTS_V2, and
	// layoutShape is a message with it:
	// docs.discord.com/developers/resources/message.
	messageShape = shape{
		{"content", text(0, maxContent)}, {"embeds", atMost(maxEmbeds, all(dictionary, embedShape.rule))}, {"embeds", embedsText}, {"components", rows},
	}
	layoutShape = shape{
		{"components", total}, {"components", numbers},
		{"components", each(in(actionRow, section, textDisplay, fileShown, separator, container))}, {"components", layoutText},
	}
	embedShape = shape{
		{"title", trimmed(0, maxEmbedTitle)}, {"description", trimmed(0, maxEmbedText)},
		{"footer", shape{{"text", trimmed(0, maxEmbedFooter)}}.rule}, {"author", shape{{"name", trimmed(0, maxEmbedTitle)}}.rule},
		{"fields", atMost(maxEmbedFields, shape{{"name", text(1, maxEmbedTitle)}, {"value", text(1, maxEmbedFieldValue)}}.rule)},
		{"color", color},
	}
)

// checkMessage checks a message against the documented limits. Files reports
// whether the message has attachments.
func checkMessage(m raw.Object, files bool) *failure {
	if flags(m)&componentsV2 == 0 {
		bad := messageShape.check("", m, false)
		if bad == nil && raw.Str(m, "content") == "" && len(raw.List(m, "embeds")) == 0 && len(raw.List(m, "components")) == 0 && !files {
			return emptyMessage
		}
		return bad
	}
	for _, name := range []string{"content", "embeds", "sticker_ids", "poll"} {
		if v := m[name]; v != nil && v != "" && (!isList(v) || size(v) > 0) {
			return legacyField(name)
		}
	}
	if len(raw.List(m, "components")) == 0 {
		return emptyMessage
	}
	return layoutShape.check("", m, false)
}

// CheckMessage returns the reason why Discord would refuse the body of a
// message, or "".
func CheckMessage(m raw.Object) string {
	return checkMessage(m, len(raw.List(m, "attachments")) > 0).String()
}

// legacyField returns the error for a field that a message with components may
// not have.
func legacyField(name string) *failure {
	return invalid(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
		fmt.Sprintf("The '%s' field cannot be used when using MessageFlags.IS_COMPONENTS_V2", name))
}

// rows is the rule for the action rows of a message.
func rows(c *checker, at string, v any) {
	if size(v) > 0 {
		between(1, maxRows, in(actionRow))(c, at, v)
	}
}

// embedsText checks the total length of the texts of all embeds.
func embedsText(c *checker, at string, v any) {
	embeds, _ := v.([]any)
	total := 0
	for _, e := range raw.All(embeds) {
		for _, s := range []string{raw.Str(e, "title"), raw.Str(e, "description"), raw.Str(raw.Sub(e, "footer"), "text"), raw.Str(raw.Sub(e, "author"), "name")} {
			total += raw.Runes(strings.TrimSpace(s))
		}
		for _, f := range raw.Objects(e, "fields") {
			total += raw.Runes(raw.Str(f, "name")) + raw.Runes(raw.Str(f, "value"))
		}
	}
	if total > maxEmbedsText {
		c.fail(at, "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of %d", maxEmbedsText)
	}
}

// total checks the number of components, including nested ones.
var total = that(func(v any) bool { top, _ := v.([]any); return len(components(top)) <= maxComponents }, "",
	"COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components cannot exceed %d", maxComponents)

// numbers checks the IDs that the bot chose.
func numbers(c *checker, at string, v any) {
	top, _ := v.([]any)
	seen := map[int]bool{}
	for _, o := range components(top) {
		id := raw.Int(o["id"])
		if id == 0 {
			continue
		}
		if id < 0 || id > maxComponentID || seen[id] {
			c.fail(at, "COMPONENT_ID_DUPLICATED", "Component id %d is used twice or out of range", id)
		}
		seen[id] = true
	}
}

// layoutText checks the total length of the text displays of a message.
func layoutText(c *checker, at string, v any) {
	top, _ := v.([]any)
	characters, bytes := 0, 0
	for _, o := range components(top) {
		if kindOf(o) == textDisplay {
			characters += raw.Runes(raw.Str(o, "content"))
			bytes += len(raw.Str(o, "content")) + 12
		}
	}
	if characters > maxComponentsText {
		c.fail(at, "COMPONENT_MAX_TOTAL_TEXT_LENGTH_EXCEEDED", "The total length of the text displays cannot exceed %d", maxComponentsText)
	}
	if c.bad == nil && bytes > maxComponentsTextRaw {
		c.bad = internalError
	}
}
