package telegram

import (
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// compose checks text and entities and sets them on a message. TextKey is
// "text" or "caption".
func compose(m raw.Object, a arguments, textKey string, limit int) *failure {
	text := a.text(textKey)
	var entities []any
	if err := a.structure(strings.TrimPrefix(textKey+"_entities", "text_"), &entities); err != nil {
		return badRequest("can't parse entities")
	}
	switch a.text("parse_mode") {
	case "":
	case "HTML":
		var bad *failure
		if text, entities, bad = parseHTML(text); bad != nil {
			return bad
		}
	default:
		return badRequest("this parse_mode is not emulated by the sandbox")
	}
	text = strings.TrimSpace(text)
	if text == "" && textKey == "text" {
		return badRequest("message text is empty")
	}
	if raw.Runes(text) > limit {
		return badRequest("message is too long")
	}
	if bad := checkEntities(text, entities); bad != nil {
		return bad
	}
	if a.truncate {
		text, _ = core.Truncated(text).(string)
		entities = nil
	}
	var options raw.Object
	if err := a.structure("link_preview_options", &options); err != nil {
		return badRequest("can't parse link preview options JSON object")
	}
	m[textKey] = text
	note(m, text, entities, options["is_disabled"] != true && a.text("disable_web_page_preview") != "true")
	return nil
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
