package telegram

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// messagesAPI has the methods that send, edit and delete messages.
type messagesAPI struct{ *bot }

func (api messagesAPI) send(a arguments) (any, *failure) {
	m, bad := api.post(a, "text", maxText)
	if bad != nil {
		return nil, bad
	}
	return raw.Copy(m), nil
}

func (api messagesAPI) sendDocument(a arguments) (any, *failure) {
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
	m, bad := api.post(a, "caption", maxCaption)
	if bad != nil {
		return nil, bad
	}
	if !a.strip {
		id := "F" + strconv.FormatInt(api.Next(), 10)
		api.files.Put(id, f.data)
		m["document"] = raw.Object{
			"file_id": id, "file_unique_id": id, "file_name": f.name, "file_size": len(f.data), "url": "/telegram/files/" + id,
		}
	}
	return raw.Copy(m), nil
}

// post adds a message of the bot to a chat.
func (api messagesAPI) post(a arguments, textKey string, limit int) (raw.Object, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, bad
	}
	if bad := c.closed(); bad != nil {
		return nil, bad
	}
	m := raw.Object{}
	if bad := compose(m, a, textKey, limit); bad != nil {
		return nil, bad
	}
	markup, bad := markup(a)
	if bad != nil {
		return nil, bad
	}
	if bad := replyTo(m, c, a); bad != nil {
		return nil, bad
	}
	if bad := c.place(m, int(a.number("message_thread_id"))); bad != nil {
		return nil, bad
	}
	for k, v := range c.blank(botJSON()) {
		m[k] = v
	}
	if markup != nil {
		m["reply_markup"] = markup
	}
	c.Add(m)
	api.Touch()
	return m, nil
}

// editable finds the message of a call, if the bot may edit it.
func (api messagesAPI) editable(a arguments) (*chat, int, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, 0, bad
	}
	n := c.Find(strconv.FormatInt(a.number("message_id"), 10))
	if n < 0 {
		return nil, 0, badRequest("message to edit not found")
	}
	m := c.Messages[n]
	markup := raw.Sub(m, "reply_markup")
	if bad := c.closed(); bad != nil {
		return nil, 0, bad
	}
	if !fromBot(m) || markup != nil && markup["inline_keyboard"] == nil {
		return nil, 0, badRequest("message can't be edited")
	}
	return c, n, nil
}

func (api messagesAPI) editText(a arguments) (any, *failure) {
	c, n, bad := api.editable(a)
	if bad != nil {
		return nil, bad
	}
	m := raw.Copy(c.Messages[n])
	if bad := compose(m, a, "text", maxText); bad != nil {
		return nil, bad
	}
	return api.replace(c, n, m, a)
}

func (api messagesAPI) editReplyMarkup(a arguments) (any, *failure) {
	c, n, bad := api.editable(a)
	if bad != nil {
		return nil, bad
	}
	return api.replace(c, n, raw.Copy(c.Messages[n]), a)
}

func (api messagesAPI) replace(c *chat, n int, m raw.Object, a arguments) (any, *failure) {
	markup, bad := markup(a)
	if bad != nil {
		return nil, bad
	}
	if markup != nil && markup["inline_keyboard"] == nil {
		return nil, badRequest("inline keyboard expected")
	}
	delete(m, "reply_markup")
	if markup != nil && len(raw.List(markup, "inline_keyboard")) > 0 {
		m["reply_markup"] = markup
	}
	if content(c.Messages[n]) == content(m) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are " +
			"exactly the same as a current content and reply markup of the message")
	}
	m["edit_date"] = int(time.Now().Unix())
	m["edits"] = 1 + raw.Int(m["edits"])
	c.Messages[n] = m
	api.Touch()
	return raw.Clone(m), nil
}

// content returns the part of a message that an edit has to change.
func content(m raw.Object) string {
	encoded, _ := json.Marshal([]any{m["text"], m["entities"], m["reply_markup"]})
	return string(encoded)
}

func (api messagesAPI) delete(a arguments) (any, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, bad
	}
	id := strconv.FormatInt(a.number("message_id"), 10)
	if c.Find(id) < 0 {
		return nil, badRequest("message to delete not found")
	}
	c.Remove(id)
	api.Touch()
	return true, nil
}
