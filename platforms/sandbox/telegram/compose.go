package telegram

import (
	"regexp"
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
	m[textKey] = text
	delete(m, "entities")
	if len(entities) > 0 {
		m["entities"] = entities
	}
	noteMentions(m, text, entities)
	return nil
}

var mention = regexp.MustCompile(`(?:^|[^\w])@([A-Za-z]\w{3,31})`)

// noteMentions records the mentions that Telegram detects in text outside code.
func noteMentions(m raw.Object, text string, entities []any) {
	delete(m, "detected_mentions")
	plain := []rune(text)
	for _, e := range raw.All(entities) {
		if kind := raw.Str(e, "type"); kind == "code" || kind == "pre" {
			blankUTF16(plain, raw.Int(e["offset"]), raw.Int(e["length"]))
		}
	}
	var found []any
	for _, hit := range mention.FindAllStringSubmatch(string(plain), -1) {
		found = append(found, hit[1])
	}
	if len(found) > 0 {
		m["detected_mentions"] = found
	}
}

func blankUTF16(text []rune, offset, length int) {
	at := 0
	for n, r := range text {
		if at >= offset && at < offset+length {
			text[n] = ' '
		}
		at++
		if r > 0xffff {
			at++
		}
	}
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
