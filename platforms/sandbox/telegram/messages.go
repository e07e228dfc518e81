package telegram

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// messagesAPI has the methods that send, edit and delete messages.
type messagesAPI struct {
	*bot
	queries *queries
}

func (api messagesAPI) send(a arguments) (any, *failure) {
	return api.post(a, func(m raw.Object) *failure { return api.compose(m, a, "text", maxText) })
}

// CheckMessage returns the reason why the newest server would refuse the text,
// the entities and the keyboard of a message to a group, or "".
func CheckMessage(encoded []byte) string {
	a := arguments{server: newest}
	if err := json.Unmarshal(encoded, &a.values); err != nil {
		return err.Error()
	}
	b := &bot{Base: &core.Base{}}
	bad := b.compose(raw.Object{}, a, "text", maxText)
	if bad == nil {
		_, bad = markup(a, supergroup)
	}
	if bad == nil {
		return ""
	}
	return bad.description
}

// post adds a message of the bot to a chat, or shows it to one member. It reads
// the message before it looks for the chat, like the official server.
func (api messagesAPI) post(a arguments, write func(m raw.Object) *failure) (any, *failure) {
	m := raw.Object{}
	if bad := write(m); bad != nil {
		return nil, bad
	}
	c, unknown := api.chat(a)
	kind := private
	if c != nil {
		kind = c.Kind
	}
	markup, bad := markup(a, kind)
	if bad != nil {
		return nil, bad
	}
	if unknown != nil {
		return nil, unknown
	}
	if bad := c.closed(); bad != nil {
		return nil, bad
	}
	to, bad := api.receiver(c, a)
	if bad != nil {
		return nil, bad
	}
	if bad := replyTo(m, c, a); bad != nil {
		return nil, bad
	}
	if bad := c.place(m, int(a.number("message_thread_id"))); bad != nil {
		return nil, bad
	}
	if markup != nil {
		m["reply_markup"] = markup
	}
	if a.text("disable_notification") == "true" {
		m["silent"] = true
	} else {
		m["push"] = m["text"]
	}
	if to != nil {
		api.whisper(c, m, *to)
		return raw.Copy(m), nil
	}
	for k, v := range c.blank(botJSON()) {
		m[k] = v
	}
	c.Add(m)
	api.Touch()
	return raw.Copy(m), nil
}

// editable finds the message of a call if the bot may edit it.
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

// rewriting changes the copy of a message for an edit.
type rewriting func(m raw.Object, a arguments) *failure

// edit returns the method for one kind of edit.
func (api messagesAPI) edit(rewrite rewriting) method {
	return func(a arguments) (any, *failure) {
		c, n, bad := api.editable(a)
		if bad != nil {
			return nil, bad
		}
		m, bad := edited(c.Messages[n], a, c.Kind, rewrite)
		if bad != nil {
			return nil, bad
		}
		c.Messages[n] = m
		api.Touch()
		return raw.Clone(m), nil
	}
}

func (api messagesAPI) rewriteText(m raw.Object, a arguments) *failure {
	if m["document"] != nil {
		return badRequest("there is no text in the message to edit")
	}
	return api.compose(m, a, "text", maxText)
}

// keepContent is the rewriting of an edit that changes only the keyboard.
func keepContent(raw.Object, arguments) *failure { return nil }

// edited returns a message with new content and a new keyboard.
func edited(old raw.Object, a arguments, chat string, rewrite rewriting) (raw.Object, *failure) {
	m := raw.Copy(old)
	if bad := rewrite(m, a); bad != nil {
		return nil, bad
	}
	markup, bad := markup(a, chat)
	if bad != nil {
		return nil, bad
	}
	if markup != nil && markup["inline_keyboard"] == nil {
		return nil, badRequest("inline keyboard expected")
	}
	delete(m, "reply_markup")
	if markup != nil && len(raw.List(markup, "inline_keyboard")) > 0 {
		delete(markup, "force_reply") // an edit does not change force_reply
		if raw.Sub(old, "reply_markup")["force_reply"] == true {
			markup["force_reply"] = true
		}
		m["reply_markup"] = markup
	}
	if content(old) == content(m) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are " +
			"exactly the same as a current content and reply markup of the message")
	}
	m["edit_date"] = int(time.Now().Unix())
	m["edits"] = 1 + raw.Int(m["edits"])
	return m, nil
}

// content returns the part of a message that an edit must change.
func content(m raw.Object) string {
	encoded, _ := json.Marshal([]any{
		m["text"], m["entities"], m["caption"], m["caption_entities"], raw.Sub(m, "document")["file_id"], m["reply_markup"],
	})
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
