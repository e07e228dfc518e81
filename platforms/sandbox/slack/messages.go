package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// content checks the text, blocks, attachments and metadata of a call and sets
// them on a message. It returns the error of the API, or nil.
func content(a, m raw.Object) raw.Object {
	blocks, okBlocks := objects(a, "blocks")
	attachments, okAttachments := objects(a, "attachments")
	text := raw.Str(a, "text")
	switch {
	case !okBlocks:
		return failure("invalid_blocks_format")
	case !okAttachments:
		return failure("invalid_attachments")
	case text == "" && len(blocks) == 0 && len(attachments) == 0:
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

// objects returns an argument that is an array, and reports whether it is one or
// is missing.
func objects(a raw.Object, name string) ([]any, bool) {
	items, ok := a[name].([]any)
	return items, ok || a[name] == nil || a[name] == ""
}

// checkContent checks blocks and attachments. It returns the error of the API,
// or nil.
func checkContent(blocks, attachments []any) raw.Object {
	problems := checkBlocks("/blocks", blocks, maxMessageBlocks)
	if len(attachments) > maxAttachments {
		return failure("too_many_attachments")
	}
	for _, at := range raw.All(attachments) {
		if at == nil || at["blocks"] != nil { // no known client sends blocks in attachments
			return failure("invalid_attachments")
		}
	}
	if len(problems) > 0 {
		messages := raw.Object{"messages": problems}
		return raw.Object{"error": "invalid_blocks", "errors": problems, "response_metadata": messages}
	}
	if size(blocks) > maxBlocksSize {
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
func (e *Emulator) message() raw.Object {
	return raw.Object{"type": "message", "user": BotUser, "bot_id": bot, "app_id": app, "ts": e.stamp()}
}

func (e *Emulator) postMessage(a raw.Object) raw.Object {
	c := e.channel(raw.Str(a, "channel"))
	if c == nil {
		return failure("channel_not_found")
	}
	m := e.message()
	if bad := content(a, m); bad != nil {
		return bad
	}
	if bad := e.reply(c, a, m); bad != nil {
		return bad
	}
	c.Add(m)
	e.Touch()
	return raw.Object{"channel": c.ID, "ts": m["ts"], "message": raw.Copy(m)}
}

// reply puts a message into the thread of a call. A deleted message without
// replies has no thread, and Slack posts the reply to the channel.
func (e *Emulator) reply(c *core.Chat, a, m raw.Object) raw.Object {
	parent := raw.Str(a, "thread_ts")
	switch {
	case parent == "":
		return nil
	case slices.Contains(e.Named("thread_locked"), c.ID):
		return failure("restricted_action_thread_locked")
	case c.Find(parent) < 0 && e.deleted[c.ID+" "+parent]:
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

func (e *Emulator) chatUpdate(a raw.Object) raw.Object {
	c := e.Chats[raw.Str(a, "channel")] // updates need the D… ID, not the user ID
	n := c.Find(raw.Str(a, "ts"))
	m := raw.Copy(c.Messages[n])
	if raw.Str(m, "user") != BotUser {
		return failure("cant_update_message") // this includes the tombstone of a deleted message
	}
	if hasBlock(m, "rich_text") && len(raw.List(a, "blocks")) > 0 && !hasBlock(a, "rich_text") {
		return failure("block_mismatch")
	}
	if bad := content(a, m); bad != nil {
		return bad
	}
	m["edits"] = 1 + raw.Int(m["edits"])
	c.Messages[n] = m
	e.Touch()
	return raw.Object{"channel": c.ID, "ts": m["ts"], "text": m["text"], "message": raw.Copy(m)}
}

func hasBlock(m raw.Object, kind string) bool {
	return slices.ContainsFunc(raw.Objects(m, "blocks"), func(b raw.Object) bool { return raw.Str(b, "type") == kind })
}

func (e *Emulator) chatDelete(a raw.Object) raw.Object {
	c := e.Chats[raw.Str(a, "channel")]
	if raw.Str(c.Message(raw.Str(a, "ts")), "user") != BotUser {
		return failure("cant_delete_message")
	}
	e.remove(c, raw.Str(a, "ts"))
	return raw.Object{"channel": c.ID, "ts": a["ts"]}
}

// permalink returns the address of a message in the web client of Slack.
func (e *Emulator) permalink(a raw.Object) raw.Object {
	c, ts := e.Chats[raw.Str(a, "channel")], raw.Str(a, "message_ts")
	link := "https://sandbox.slack.com/archives/" + c.ID + "/p" + strings.ReplaceAll(ts, ".", "")
	if thread := raw.Str(c.Message(ts), "thread_ts"); thread != "" {
		link += "?thread_ts=" + thread + "&cid=" + c.ID
	}
	return raw.Object{"channel": c.ID, "permalink": link}
}

func (e *Emulator) postEphemeral(a raw.Object) raw.Object {
	c := e.channel(raw.Str(a, "channel"))
	if c == nil {
		return failure("channel_not_found")
	}
	_, known := e.ByID(raw.Str(a, "user"))
	if !known || slices.Contains(e.Named("not_member"), raw.Str(a, "user")) {
		return failure("user_not_in_channel")
	}
	m := e.message()
	if bad := content(a, m); bad != nil {
		return bad
	}
	if thread := raw.Str(a, "thread_ts"); c.Message(thread) != nil {
		m["thread_ts"] = thread
	}
	c.AddPrivate(raw.Str(a, "user"), m)
	e.Touch()
	return raw.Object{"message_ts": m["ts"]}
}

// responseURL is an address at which an app may respond to an interaction.
type responseURL struct {
	user, channel string
	uses          int
	expires       time.Time
}

// newURL returns a new response URL.
func (e *Emulator) newURL(user, channel string) string {
	key := uuid.NewString()
	e.urls[key] = responseURL{user: user, channel: channel, expires: e.Clock.Now().Add(responseTTL)}
	return e.address + "/slack/response/" + key
}

// responseURL serves the response_url of an interaction.
func (e *Emulator) responseURL(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var a raw.Object
	if err != nil || json.Unmarshal(body, &a) != nil {
		http.Error(rw, "invalid_payload", http.StatusBadRequest)
		return
	}
	e.Lock()
	defer e.Unlock()
	key := r.PathValue("key")
	u, ok := e.urls[key]
	switch {
	case !ok || u.uses >= responseUses:
		http.Error(rw, "used_url", http.StatusNotFound)
		return
	case e.Clock.Now().After(u.expires):
		http.Error(rw, "expired_url", http.StatusNotFound)
		return
	}
	accepted := e.Recorder.Watch(Name, "response_url", a)
	u.uses++
	e.urls[key] = u
	if bad := e.respond(u, a); bad != nil {
		raw.Write(rw, http.StatusBadRequest, bad)
		return
	}
	accepted(nil)
	e.Touch()
	_, _ = io.WriteString(rw, "ok") // the app may have disconnected
}

// respond applies a response of the app. It returns the error of the API, or
// nil.
func (e *Emulator) respond(u responseURL, a raw.Object) raw.Object {
	c := e.Chats[u.channel]
	m := e.message()
	if thread := raw.Str(a, "thread_ts"); thread != "" {
		m["thread_ts"] = thread
	}
	if bad := content(a, m); bad != nil {
		return bad
	}
	if raw.Str(a, "response_type") == "in_channel" {
		c.Add(m)
	} else {
		c.AddPrivate(u.user, m)
	}
	return nil
}
