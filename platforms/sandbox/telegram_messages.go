package sandbox

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func (c *telegramChat) blank(from object) object {
	c.last++
	return object{"message_id": int(c.last), "from": from, "chat": c.json(), "date": int(time.Now().Unix())}
}

// compose checks text, entities and keyboard and puts them on a message.
func (w *telegramWorld) compose(m object, a telegramArgs, textKey string, limit int) *telegramFailure {
	text := a.text(textKey)
	var entities []any
	if err := a.structure(strings.TrimPrefix(textKey+"_entities", "text_"), &entities); err != nil {
		return badRequest("can't parse entities")
	}
	switch a.text("parse_mode") {
	case "":
	case "HTML":
		var bad *telegramFailure
		if text, entities, bad = parseTelegramHTML(text); bad != nil {
			return bad
		}
	default:
		return badRequest("this parse_mode is not emulated by the sandbox")
	}
	text = strings.TrimSpace(text)
	if text == "" && textKey == "text" {
		return badRequest("message text is empty")
	}
	if runes(text) > limit {
		return badRequest("message is too long")
	}
	if bad := checkTelegramEntities(text, entities); bad != nil {
		return bad
	}
	if a.truncate {
		text, _ = truncated(text).(string)
		entities = nil
	}
	m[textKey] = text
	delete(m, "entities")
	if len(entities) > 0 {
		m["entities"] = entities
	}
	w.mentions(m, text, entities)
	return nil
}

var telegramMention = regexp.MustCompile(`(?:^|[^\w])@([A-Za-z]\w{3,31})`)

// mentions notes whom Telegram would detect in plain text, outside code.
func (w *telegramWorld) mentions(m object, text string, entities []any) {
	delete(m, "detected_mentions")
	plain := []rune(text)
	for _, v := range entities {
		e, _ := v.(object)
		if kind := str(e, "type"); kind == "code" || kind == "pre" {
			blankUTF16(plain, intOf(e["offset"]), intOf(e["length"]))
		}
	}
	var found []any
	for _, hit := range telegramMention.FindAllStringSubmatch(string(plain), -1) {
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

func (w *telegramWorld) reply(m object, c *telegramChat, a telegramArgs) *telegramFailure {
	var params object
	if err := a.structure("reply_parameters", &params); err != nil {
		return badRequest("can't parse reply parameters JSON object")
	}
	id := a.number("reply_to_message_id")
	if n, ok := number(params, "message_id"); ok {
		id = int64(n)
	}
	if id == 0 {
		return nil
	}
	n := c.find(id)
	if n < 0 {
		if params["allow_sending_without_reply"] == true || a.text("allow_sending_without_reply") == "true" {
			return nil
		}
		return badRequest("message to be replied not found")
	}
	original := cloneObject(c.Messages[n])
	delete(original, "reply_to_message")
	m["reply_to_message"] = original
	return nil
}

func (w *telegramWorld) sendMessage(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	return w.send(a, "text", 4096)
}

func (w *telegramWorld) sendDocument(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	f, ok := a.files["document"]
	if !ok {
		return nil, badRequest("there is no document in the request")
	}
	if len(f.data) == 0 {
		return nil, badRequest("file must be non-empty")
	}
	if a.truncate {
		f.data = f.data[:len(f.data)/2]
	}
	id := "F" + strconv.FormatInt(w.s.next(), 10)
	w.files[id] = f.data
	m, bad := w.send(a, "caption", 1024)
	if bad != nil || a.strip {
		return m, bad
	}
	c, _ := w.chat(a)
	stored := c.Messages[len(c.Messages)-1]
	stored["document"] = object{"file_id": id, "file_unique_id": id, "file_name": f.name, "file_size": len(f.data), "url": "/telegram/files/" + id}
	m["document"] = stored["document"]
	return m, nil
}

func (w *telegramWorld) send(a telegramArgs, textKey string, limit int) (object, *telegramFailure) {
	c, bad := w.chat(a)
	if bad != nil {
		return nil, bad
	}
	m := object{}
	if bad := w.compose(m, a, textKey, limit); bad != nil {
		return nil, bad
	}
	markup, bad := telegramMarkup(a)
	if bad != nil {
		return nil, bad
	}
	if bad := w.reply(m, c, a); bad != nil {
		return nil, bad
	}
	if t := a.number("message_thread_id"); t != 0 {
		if c.Kind == "private" {
			return nil, badRequest("message thread not found")
		}
		m["message_thread_id"] = int(t)
	}
	for k, v := range c.blank(telegramBot()) {
		m[k] = v
	}
	if markup != nil {
		m["reply_markup"] = markup
	}
	c.Messages = append(c.Messages, m)
	w.s.touch()
	return cloneObject(m), nil
}

func (w *telegramWorld) editable(a telegramArgs) (*telegramChat, int, *telegramFailure) {
	c, bad := w.chat(a)
	if bad != nil {
		return nil, 0, bad
	}
	n := c.find(a.number("message_id"))
	if n < 0 {
		return nil, 0, badRequest("message to edit not found")
	}
	m := c.Messages[n]
	markup := sub(m, "reply_markup")
	if intOf(sub(m, "from")["id"]) != int(TelegramBotID) || markup != nil && markup["inline_keyboard"] == nil {
		return nil, 0, badRequest("message can't be edited")
	}
	return c, n, nil
}

func (w *telegramWorld) editMessageText(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	c, n, bad := w.editable(a)
	if bad != nil {
		return nil, bad
	}
	m := cloneObject(c.Messages[n])
	if bad := w.compose(m, a, "text", 4096); bad != nil {
		return nil, bad
	}
	return w.replace(c, n, m, a)
}

func (w *telegramWorld) editMessageReplyMarkup(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	c, n, bad := w.editable(a)
	if bad != nil {
		return nil, bad
	}
	return w.replace(c, n, cloneObject(c.Messages[n]), a)
}

func (w *telegramWorld) replace(c *telegramChat, n int, m object, a telegramArgs) (any, *telegramFailure) {
	markup, bad := telegramMarkup(a)
	if bad != nil {
		return nil, bad
	}
	if markup != nil && markup["inline_keyboard"] == nil {
		return nil, badRequest("inline keyboard expected")
	}
	delete(m, "reply_markup")
	if markup != nil && len(list(markup, "inline_keyboard")) > 0 {
		m["reply_markup"] = markup
	}
	before, _ := json.Marshal([]any{c.Messages[n]["text"], c.Messages[n]["entities"], c.Messages[n]["reply_markup"]})
	after, _ := json.Marshal([]any{m["text"], m["entities"], m["reply_markup"]})
	if string(before) == string(after) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m["edit_date"] = int(time.Now().Unix())
	m["edits"] = 1 + intOf(m["edits"])
	c.Messages[n] = m
	w.s.touch()
	return clone(m), nil
}

func (w *telegramWorld) deleteMessage(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	c, bad := w.chat(a)
	if bad != nil {
		return nil, bad
	}
	n := c.find(a.number("message_id"))
	if n < 0 {
		return nil, badRequest("message to delete not found")
	}
	c.Messages = append(c.Messages[:n], c.Messages[n+1:]...)
	w.s.touch()
	return true, nil
}
