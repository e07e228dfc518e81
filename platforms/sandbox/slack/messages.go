package slack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// chatAPI has the methods chat.*.
type chatAPI struct{ *workspace }

// content checks the text, blocks, attachments and metadata of a call and sets
// them on a message. It returns the error of the API, or nil.
func content(a, m raw.Object) raw.Object {
	blocks, bad := objects(a, "blocks", "invalid_blocks_format")
	if bad != nil {
		return bad
	}
	attachments, bad := objects(a, "attachments", "invalid_attachments")
	if bad != nil {
		return bad
	}
	text := raw.Str(a, "text")
	if markdown := raw.Str(a, "markdown_text"); markdown != "" {
		if text != "" || len(blocks) > 0 {
			return failure("markdown_text_conflict")
		}
		if units(markdown) > maxMarkdown {
			return failure("msg_too_long")
		}
		text, blocks = markdown, []any{raw.Object{"type": "markdown", "text": markdown}}
	}
	if text == "" && len(blocks) == 0 && len(attachments) == 0 {
		return failure("no_text")
	}
	if bad := checkContent(blocks, attachments); bad != nil {
		return bad
	}
	m["text"] = text
	delete(m, "blocks")
	if len(blocks) > 0 {
		named(blocks)
		m["blocks"] = blocks
	}
	if a["attachments"] != nil {
		m["attachments"] = attachments
	}
	return metadata(a, m)
}

// CheckMessage returns the reasons why Slack would refuse the text, the blocks
// and the attachments of a message, both for posting and for editing.
func CheckMessage(encoded []byte) []string {
	var a raw.Object
	if err := json.Unmarshal(encoded, &a); err != nil {
		return []string{err.Error()}
	}
	bad := content(a, raw.Object{})
	switch {
	case raw.Runes(raw.Str(a, "text")) > maxUpdateText: // smaller than maxPostText
		return []string{"msg_too_long"}
	case bad == nil:
		return nil
	}
	problems, _ := bad["errors"].([]string)
	return append([]string{raw.Str(bad, "error")}, problems...)
}

// objects returns an argument that is an array, or the error of the API.
func objects(a raw.Object, name, code string) (items []any, bad raw.Object) {
	v, given := a[name]
	items, ok := v.([]any)
	if given && !ok && v != nil && v != "" {
		return nil, failure(code)
	}
	return items, nil
}

// checkContent checks blocks and attachments. It returns the error of the API,
// or nil.
func checkContent(blocks, attachments []any) raw.Object {
	problems := checkBlocks("/blocks", blocks, onMessage)
	if len(attachments) > maxAttachments {
		return failure("too_many_attachments")
	}
	total := size(blocks)
	for n, at := range raw.All(attachments) {
		if at == nil {
			return failure("invalid_attachments")
		}
		inner := raw.List(at, "blocks")
		problems = append(problems, checkBlocks(fmt.Sprintf("/attachments/%d/blocks", n), inner, onMessage)...)
		total += size(inner)
		named(inner)
	}
	if len(problems) > 0 {
		messages := raw.Object{"messages": problems}
		return raw.Object{"error": "invalid_blocks", "errors": problems, "response_metadata": messages}
	}
	if total > maxBlocksSize {
		return failure("msg_blocks_too_long")
	}
	return nil
}

// metadata sets the metadata of a call on a message. It returns the error of
// the API, or nil.
func metadata(a, m raw.Object) raw.Object {
	if a["metadata"] == nil || a["metadata"] == "" {
		return nil
	}
	meta, ok := a["metadata"].(raw.Object)
	_, payload := meta["event_payload"].(raw.Object)
	if !ok || raw.Str(meta, "event_type") == "" || !payload {
		return failure("invalid_metadata_format")
	}
	if encoded, err := json.Marshal(meta); err != nil || len(encoded) > maxMessageMetadata {
		return failure("metadata_too_large")
	}
	m["metadata"] = meta
	return nil
}

// message returns a new message of the bot without content.
func (w *workspace) message() raw.Object {
	return raw.Object{"type": "message", "user": BotUser, "bot_id": bot, "app_id": app, "ts": w.stamp()}
}

func (api chatAPI) postMessage(_ *http.Request, a raw.Object) raw.Object {
	c := api.channel(raw.Str(a, "channel"))
	if c == nil {
		return failure("channel_not_found")
	}
	if raw.Runes(raw.Str(a, "text")) > maxPostText {
		return failure("msg_too_long")
	}
	m := api.message()
	if bad := content(a, m); bad != nil {
		return bad
	}
	if bad := api.reply(c, a, m); bad != nil {
		return bad
	}
	c.Add(m)
	api.Touch()
	return raw.Object{"channel": c.ID, "ts": m["ts"], "message": raw.Copy(m)}
}

// reply puts a message into the thread of a call. A deleted message without
// replies has no thread, and Slack posts the reply to the channel.
func (api chatAPI) reply(c *core.Chat, a, m raw.Object) raw.Object {
	parent := raw.Str(a, "thread_ts")
	switch {
	case parent == "":
		return nil
	case slices.Contains(api.Named("thread_locked"), c.ID):
		return failure("restricted_action_thread_locked")
	case c.Find(parent) < 0 && api.deleted[c.ID+" "+parent]:
		return nil
	case c.Find(parent) < 0:
		return failure("cannot_reply_to_message")
	}
	m["thread_ts"] = parent
	if yes(a, "reply_broadcast") {
		m["subtype"] = "thread_broadcast"
	}
	return nil
}

func (api chatAPI) update(_ *http.Request, a raw.Object) raw.Object {
	c := api.Chats[raw.Str(a, "channel")] // updates need the D… ID, not the user ID
	n := c.Find(raw.Str(a, "ts"))
	if n < 0 {
		return failure("message_not_found")
	}
	m := raw.Copy(c.Messages[n])
	if raw.Str(m, "user") != BotUser {
		return failure("cant_update_message") // this includes the tombstone of a deleted message
	}
	if raw.Runes(raw.Str(a, "text")) > maxUpdateText {
		return failure("msg_too_long")
	}
	if hasBlock(m, "rich_text") && len(raw.List(a, "blocks")) > 0 && !hasBlock(a, "rich_text") {
		return failure("block_mismatch")
	}
	if bad := content(a, m); bad != nil {
		return bad
	}
	m["edits"] = 1 + raw.Int(m["edits"])
	c.Messages[n] = m
	api.Touch()
	return raw.Object{"channel": c.ID, "ts": m["ts"], "text": m["text"], "message": raw.Copy(m)}
}

func hasBlock(m raw.Object, kind string) bool {
	return slices.ContainsFunc(raw.Objects(m, "blocks"), func(b raw.Object) bool { return raw.Str(b, "type") == kind })
}

func (api chatAPI) delete(_ *http.Request, a raw.Object) raw.Object {
	c := api.Chats[raw.Str(a, "channel")]
	m := c.Message(raw.Str(a, "ts"))
	switch {
	case m == nil:
		return failure("message_not_found")
	case raw.Str(m, "user") != BotUser:
		return failure("cant_delete_message")
	}
	api.remove(c, raw.Str(a, "ts"))
	return raw.Object{"channel": c.ID, "ts": a["ts"]}
}

// permalink returns the address of a message in the web client of Slack.
func (api chatAPI) permalink(_ *http.Request, a raw.Object) raw.Object {
	c, ts := api.Chats[raw.Str(a, "channel")], raw.Str(a, "message_ts")
	m := c.Message(ts)
	if m == nil {
		return failure("message_not_found")
	}
	link := "https://sandbox.slack.com/archives/" + c.ID + "/p" + strings.ReplaceAll(ts, ".", "")
	if thread := raw.Str(m, "thread_ts"); thread != "" {
		link += "?thread_ts=" + thread + "&cid=" + c.ID
	}
	return raw.Object{"channel": c.ID, "permalink": link}
}

func (api chatAPI) postEphemeral(_ *http.Request, a raw.Object) raw.Object {
	c := api.channel(raw.Str(a, "channel"))
	if c == nil {
		return failure("channel_not_found")
	}
	_, known := api.ByID(raw.Str(a, "user"))
	if !known || slices.Contains(api.Named("not_member"), raw.Str(a, "user")) {
		return failure("user_not_in_channel")
	}
	m := api.message()
	if bad := content(a, m); bad != nil {
		return bad
	}
	if thread := raw.Str(a, "thread_ts"); c.Message(thread) != nil {
		m["thread_ts"] = thread
	}
	c.AddPrivate(raw.Str(a, "user"), m)
	api.Touch()
	return raw.Object{"message_ts": m["ts"]}
}
