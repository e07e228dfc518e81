package telegram

import (
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// compose checks text and entities and sets them on a message. TextKey is
// "text" or "caption".
func (b *bot) compose(m raw.Object, a arguments, textKey string, limit int) *failure {
	text, entities, bad := b.formatted(a, textKey)
	if bad != nil {
		return bad
	}
	if blank(text) && textKey == "text" {
		return badRequest("message text is empty")
	}
	if raw.Runes(text) > limit {
		if textKey == "caption" {
			return badRequest("message caption is too long")
		}
		return badRequest("message is too long")
	}
	if a.truncate {
		text, _ = core.Truncated(text).(string)
		entities = nil
	}
	var options raw.Object
	if err := a.structure("link_preview_options", &options); err != nil {
		return badRequest("can't parse link preview options JSON object")
	}
	preview := textKey == "text" && options["is_disabled"] != true && a.text("disable_web_page_preview") != "true"
	m[textKey] = text
	note(m, textKey, entities, preview)
	return nil
}

// formatted returns a text without leading and trailing spaces, and the
// entities from the bot.
func (b *bot) formatted(a arguments, textKey string) (string, []any, *failure) {
	text := a.text(textKey)
	if len(text) > maxRaw {
		return "", nil, badRequest("text is too long")
	}
	var entities []any
	if err := a.structure(entitiesKey(textKey), &entities); err != nil {
		return "", nil, badRequest("can't parse entities")
	}
	var bad *failure
	switch mode := strings.ToLower(a.text("parse_mode")); mode {
	case "", "none":
	case "html":
		text, entities, bad = parseHTML(text)
	case "markdown", "markdownv2":
		bad = badRequest("this parse_mode is not emulated by the sandbox")
	default:
		bad = badRequest("unsupported parse_mode")
	}
	if bad != nil {
		return "", nil, bad
	}
	if entities, bad = b.checkEntities(text, entities, a.server); bad != nil {
		return "", nil, bad
	}
	text, entities = clean(text, entities)
	trimmed := strings.TrimLeft(text, " \n")
	before := lengthUTF16(text) - lengthUTF16(trimmed)
	trimmed = strings.TrimRight(trimmed, " \n")
	return trimmed, moved(entities, before, lengthUTF16(trimmed)), nil
}

// entitiesKey returns the name of the field with the entities of a text.
func entitiesKey(textKey string) string {
	if textKey == "caption" {
		return "caption_entities"
	}
	return "entities"
}

// moved returns the entities of a text after its beginning and its end were
// cut.
func moved(entities []any, before, length int) []any {
	var out []any
	for _, e := range raw.All(entities) {
		from := max(0, raw.Int(e["offset"])-before)
		to := min(length, raw.Int(e["offset"])-before+raw.Int(e["length"]))
		if to > from {
			e["offset"], e["length"] = float64(from), float64(to-from)
			out = append(out, e)
		}
	}
	return out
}

// replyTo sets reply_to_message on a message.
func replyTo(m raw.Object, c *chat, a arguments) *failure {
	var params raw.Object
	if err := a.structure("reply_parameters", &params); err != nil {
		return badRequest("can't parse reply parameters JSON object")
	}
	id := a.text("reply_to_message_id")
	if _, ok := raw.Number(params, "message_id"); ok {
		id = raw.Text(params["message_id"])
	}
	if number(id) == 0 {
		return nil
	}
	original := raw.Copy(c.Message(id))
	if original == nil {
		if params["allow_sending_without_reply"] == true || a.text("allow_sending_without_reply") == "true" {
			return nil
		}
		return badRequest("message to be replied not found")
	}
	delete(original, "reply_to_message")
	m["reply_to_message"] = original
	return nil
}
