package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// stamp is a new message timestamp: unique and rising, as Slack's are.
func (w *slackWorld) stamp() string {
	w.lastTS = max(w.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", w.lastTS/1e6, w.lastTS%1e6)
}

// channel finds a conversation; a user id means the direct message with them.
func (w *slackWorld) channel(id string) *slackChannel {
	if c := w.channels[id]; c != nil {
		return c
	}
	for _, m := range w.s.members {
		if m.Slack == id {
			return w.direct(id)
		}
	}
	return nil
}

func (w *slackWorld) direct(user string) *slackChannel {
	id := "D" + strings.TrimPrefix(user, "U")
	if w.channels[id] == nil {
		w.channels[id] = &slackChannel{ID: id, User: user, Name: "direct message"}
	}
	return w.channels[id]
}

func (c *slackChannel) find(ts string) int {
	for n, m := range c.Messages {
		if str(m, "ts") == ts {
			return n
		}
	}
	return -1
}

// content checks and takes over text, blocks and metadata of a message.
func slackContent(a object, m object) object {
	blocks, given := a["blocks"].([]any)
	if raw, ok := a["blocks"]; ok && !given && raw != nil && raw != "" {
		return slackError("invalid_blocks_format")
	}
	text := str(a, "text")
	if text == "" && len(blocks) == 0 {
		return slackError("no_text")
	}
	if problems := checkSlackBlocks(blocks, slackInMessage); len(problems) > 0 {
		return slackBlockError(problems)
	}
	if slackSize(blocks) > 13200 {
		return slackError("msg_blocks_too_long")
	}
	m["text"] = text
	delete(m, "blocks")
	if len(blocks) > 0 {
		m["blocks"] = blocks
	}
	if meta, ok := a["metadata"].(object); ok {
		if str(meta, "event_type") == "" {
			return slackError("invalid_metadata_format")
		}
		m["metadata"] = meta
	}
	return nil
}

func (w *slackWorld) postMessage(_ *http.Request, a object) object {
	c := w.channel(str(a, "channel"))
	if c == nil {
		return slackError("channel_not_found")
	}
	if runes(str(a, "text")) > 40000 {
		return slackError("msg_too_long")
	}
	m := object{"type": "message", "user": SlackBotUser, "bot_id": "B0SANDBOX", "app_id": "A0SANDBOX", "ts": w.stamp()}
	if bad := slackContent(a, m); bad != nil {
		return bad
	}
	if parent := str(a, "thread_ts"); parent != "" {
		if c.find(parent) < 0 {
			return slackError("cannot_reply_to_message")
		}
		m["thread_ts"] = parent
		if a["reply_broadcast"] == true {
			m["subtype"] = "thread_broadcast"
		}
	}
	c.Messages = append(c.Messages, m)
	w.s.touch()
	return object{"channel": c.ID, "ts": m["ts"], "message": cloneObject(m)}
}

func (w *slackWorld) update(_ *http.Request, a object) object {
	c := w.channels[str(a, "channel")] // not a user id: updates need the D… id
	if c == nil {
		return slackError("channel_not_found")
	}
	n := c.find(str(a, "ts"))
	if n < 0 {
		return slackError("message_not_found")
	}
	m := cloneObject(c.Messages[n])
	if str(m, "user") != SlackBotUser {
		return slackError("cant_update_message")
	}
	if runes(str(a, "text")) > 4000 {
		return slackError("msg_too_long")
	}
	if slackHas(m, "rich_text") && len(list(a, "blocks")) > 0 && !slackHas(a, "rich_text") {
		return slackError("block_mismatch")
	}
	if bad := slackContent(a, m); bad != nil {
		return bad
	}
	m["edits"] = 1 + intOf(m["edits"])
	c.Messages[n] = m
	w.s.touch()
	return object{"channel": c.ID, "ts": m["ts"], "text": m["text"], "message": cloneObject(m)}
}

func intOf(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

func slackHas(m object, kind string) bool {
	for _, b := range list(m, "blocks") {
		if o, ok := b.(object); ok && str(o, "type") == kind {
			return true
		}
	}
	return false
}

func (w *slackWorld) delete(_ *http.Request, a object) object {
	c := w.channels[str(a, "channel")]
	if c == nil {
		return slackError("channel_not_found")
	}
	n := c.find(str(a, "ts"))
	if n < 0 {
		return slackError("message_not_found")
	}
	c.Messages = append(c.Messages[:n], c.Messages[n+1:]...)
	w.s.touch()
	return object{"channel": c.ID, "ts": a["ts"]}
}

func (w *slackWorld) postEphemeral(_ *http.Request, a object) object {
	c := w.channel(str(a, "channel"))
	if c == nil {
		return slackError("channel_not_found")
	}
	known := false
	for _, m := range w.s.members {
		known = known || m.Slack == str(a, "user")
	}
	if !known {
		return slackError("user_not_in_channel")
	}
	m := object{"ts": w.stamp(), "user": SlackBotUser}
	if bad := slackContent(a, m); bad != nil {
		return bad
	}
	c.Private = append(c.Private, slackPrivate{str(a, "user"), m})
	w.s.touch()
	return object{"message_ts": m["ts"]}
}
