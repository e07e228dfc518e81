package slack

import (
	"net/http"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// chatAPI has the methods chat.*.
type chatAPI struct{ *workspace }

// content checks the text, blocks and metadata of a call and sets them on a
// message. It returns the error of the API, or nil.
func content(a, m raw.Object) raw.Object {
	blocks, given := a["blocks"].([]any)
	if v, ok := a["blocks"]; ok && !given && v != nil && v != "" {
		return failure("invalid_blocks_format")
	}
	text := raw.Str(a, "text")
	if text == "" && len(blocks) == 0 {
		return failure("no_text")
	}
	if problems := checkBlocks(blocks, maxMessageBlocks); len(problems) > 0 {
		messages := raw.Object{"messages": problems}
		return raw.Object{"error": "invalid_blocks", "errors": problems, "response_metadata": messages}
	}
	if size(blocks) > maxBlocksSize {
		return failure("msg_blocks_too_long")
	}
	m["text"] = text
	delete(m, "blocks")
	if len(blocks) > 0 {
		m["blocks"] = blocks
	}
	if meta, ok := a["metadata"].(raw.Object); ok {
		if raw.Str(meta, "event_type") == "" {
			return failure("invalid_metadata_format")
		}
		m["metadata"] = meta
	}
	return nil
}

func (api chatAPI) postMessage(_ *http.Request, a raw.Object) raw.Object {
	c := api.channel(raw.Str(a, "channel"))
	if c == nil {
		return failure("channel_not_found")
	}
	if raw.Runes(raw.Str(a, "text")) > maxPostText {
		return failure("msg_too_long")
	}
	m := raw.Object{"type": "message", "user": BotUser, "bot_id": bot, "app_id": app, "ts": api.stamp()}
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
	if a["reply_broadcast"] == true {
		m["subtype"] = "thread_broadcast"
	}
	return nil
}

func (api chatAPI) update(_ *http.Request, a raw.Object) raw.Object {
	c := api.channels[raw.Str(a, "channel")] // not a user id: updates need the D… id
	if c == nil {
		return failure("channel_not_found")
	}
	n := c.Find(raw.Str(a, "ts"))
	if n < 0 {
		return failure("message_not_found")
	}
	m := raw.Copy(c.Messages[n])
	if raw.Str(m, "user") != BotUser {
		return failure("cant_update_message") // also the tombstone of a deleted message
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
	c := api.channels[raw.Str(a, "channel")]
	if c == nil {
		return failure("channel_not_found")
	}
	if c.Find(raw.Str(a, "ts")) < 0 {
		return failure("message_not_found")
	}
	api.remove(c, raw.Str(a, "ts"))
	return raw.Object{"channel": c.ID, "ts": a["ts"]}
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
	m := raw.Object{"ts": api.stamp(), "user": BotUser}
	if bad := content(a, m); bad != nil {
		return bad
	}
	c.AddPrivate(raw.Str(a, "user"), m)
	api.Touch()
	return raw.Object{"message_ts": m["ts"]}
}
