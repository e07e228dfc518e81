package telegram

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func (e *Emulator) send(a arguments) (any, *failure) {
	return e.post(a, func(m raw.Object) *failure { return e.compose(m, a, "text", maxText) })
}

// CheckMessage returns the reason why the newest server would refuse the text,
// the entities and the keyboard of a message to a group, or "".
func CheckMessage(encoded []byte) string {
	a := arguments{server: newest}
	if err := json.Unmarshal(encoded, &a.values); err != nil {
		return err.Error()
	}
	e := &Emulator{Base: &core.Base{}}
	bad := e.compose(raw.Object{}, a, "text", maxText)
	if bad == nil {
		_, bad = markup(a)
	}
	if bad == nil {
		return ""
	}
	return bad.description
}

// post adds a message of the bot to a chat, or shows it to one member. It reads
// the message before it looks for the chat, like the official server.
func (e *Emulator) post(a arguments, write func(m raw.Object) *failure) (any, *failure) {
	m := raw.Object{}
	if bad := write(m); bad != nil {
		return nil, bad
	}
	markup, bad := markup(a)
	if bad != nil {
		return nil, bad
	}
	c, bad := e.chat(a)
	if bad != nil {
		return nil, bad
	}
	if bad := c.closed(); bad != nil {
		return nil, bad
	}
	to, bad := e.receiver(c, a)
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
		e.whisper(c, m, *to)
		return raw.Copy(m), nil
	}
	maps.Copy(m, c.blank(botJSON()))
	c.Add(m)
	e.Touch()
	return raw.Copy(m), nil
}

// rewriting changes the copy of a message for an edit.
type rewriting func(e *Emulator, m raw.Object, a arguments) *failure

// edit returns the function of the method for one kind of edit.
func edit(rewrite rewriting) func(e *Emulator, a arguments) (any, *failure) {
	return func(e *Emulator, a arguments) (any, *failure) {
		c := a.chat
		n := c.Find(strconv.FormatInt(a.number("message_id"), 10))
		if n < 0 {
			return nil, badRequest("message to edit not found")
		}
		if bad := c.closed(); bad != nil {
			return nil, bad
		}
		markup := raw.Sub(c.Messages[n], "reply_markup")
		if !fromBot(c.Messages[n]) || markup != nil && markup["inline_keyboard"] == nil {
			return nil, badRequest("message can't be edited")
		}
		m, bad := e.edited(c.Messages[n], a, rewrite)
		if bad != nil {
			return nil, bad
		}
		c.Messages[n] = m
		e.Touch()
		return raw.Clone(m), nil
	}
}

func (e *Emulator) rewriteText(m raw.Object, a arguments) *failure {
	if m["document"] != nil {
		return badRequest("there is no text in the message to edit")
	}
	return e.compose(m, a, "text", maxText)
}

// keepContent is the rewriting of an edit that changes only the keyboard.
func (e *Emulator) keepContent(raw.Object, arguments) *failure { return nil }

// edited returns a message with new content and a new keyboard.
func (e *Emulator) edited(old raw.Object, a arguments, rewrite rewriting) (raw.Object, *failure) {
	m := raw.Copy(old)
	if bad := rewrite(e, m, a); bad != nil {
		return nil, bad
	}
	markup, bad := markup(a)
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

func (e *Emulator) delete(a arguments) (any, *failure) {
	c, id := a.chat, strconv.FormatInt(a.number("message_id"), 10)
	if c.Find(id) < 0 {
		return nil, badRequest("message to delete not found")
	}
	c.Remove(id)
	e.Touch()
	return true, nil
}

func (e *Emulator) sendDocument(a arguments) (any, *failure) {
	return e.post(a, func(m raw.Object) *failure { return e.setDocument(m, a, "document") })
}

// setDocument sets the file in a parameter, and the caption, on a message.
func (e *Emulator) setDocument(m raw.Object, a arguments, key string) *failure {
	document, bad := e.document(a, key)
	if bad != nil {
		return bad
	}
	if bad := e.compose(m, a, "caption", maxCaption); bad != nil {
		return bad
	}
	if !a.strip {
		m["document"] = document
	}
	return nil
}

// document returns the upload in a parameter, which may be in a field with
// another name.
func (e *Emulator) document(a arguments, key string) (raw.Object, *failure) {
	named := a.text(key)
	field, attached := strings.CutPrefix(named, "attach://")
	if !attached {
		field = key
	}
	f, uploaded := a.files[field]
	switch {
	case !uploaded && named == "" || !uploaded && attached:
		return nil, badRequest("there is no document in the request")
	case !uploaded:
		return nil, badRequest("wrong file identifier/HTTP URL specified")
	case len(f.data) == 0:
		return nil, badRequest("file must be non-empty")
	}
	if a.truncate {
		f.data = f.data[:len(f.data)/2]
	}
	id := "F" + strconv.FormatInt(e.Next(), 10)
	e.files.Put(id, f.data)
	return raw.Object{
		"file_id": id, "file_unique_id": id, "file_name": f.name, "file_size": len(f.data), "url": "/telegram/files/" + id,
	}, nil
}

// rewriteMedia replaces the file and the caption of a message. A text message
// becomes a document.
func (e *Emulator) rewriteMedia(m raw.Object, a arguments) *failure {
	media, bad := a.object("media", "input media")
	if media == nil {
		return cmp.Or(bad, badRequest("can't parse input media JSON object"))
	}
	if kind := raw.Str(media, "type"); kind != "document" {
		return badRequest("can't parse InputMedia: type %q is unsupported", kind)
	}
	inner := a
	inner.values = maps.Clone(media)
	for _, key := range []string{"text", "entities", "detected_mentions", "preview", "caption", "caption_entities", "document"} {
		delete(m, key)
	}
	return e.setDocument(m, inner, "media")
}
