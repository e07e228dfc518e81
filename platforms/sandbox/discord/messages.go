package discord

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// blank returns a new message of the bot.
func (e *Emulator) blank(ch *channel) raw.Object {
	m := raw.Object{
		"id": e.snowflake(), "channel_id": ch.ID, "author": botJSON(), "content": "",
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "edited_timestamp": nil, "tts": false,
		"mention_everyone": false, "mentions": []any{}, "mention_roles": []any{}, "attachments": []any{},
		"embeds": []any{}, "components": []any{}, "pinned": false, "type": 0, "flags": 0, "application_id": Application,
	}
	if len(e.Named("old_messages")) > 0 {
		backdate(m, e.lastID)
	}
	return m
}

func (e *Emulator) createMessage(c *call) any {
	ch := c.channel
	nonce := fmt.Sprint(c.args["nonce"])
	if c.args["nonce"] != nil {
		if raw.Runes(nonce) > maxNonce {
			return invalid("nonce", "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxNonce))
		}
		if m := ch.Message(e.nonces[nonce]); m != nil && c.args["enforce_nonce"] == true {
			return raw.Clone(m)
		}
	}
	m := e.blank(ch)
	if bad := e.mayPost(c); bad != nil {
		return bad
	}
	if bad := e.replyTo(m, c.args, ch); bad != nil {
		return bad
	}
	if bad := e.apply(ch, m, c.sent(), false); bad != nil {
		return bad
	}
	if c.args["nonce"] != nil {
		e.nonces[nonce] = raw.Str(m, "id")
		m["nonce"] = c.args["nonce"]
	}
	ch.Add(m)
	ch.reopen()
	e.Touch()
	e.dispatch("MESSAGE_CREATE", ch, raw.Object{"guild_id": Guild}, m)
	return raw.Clone(m)
}

func (e *Emulator) getMessage(c *call) any { return raw.Clone(c.message) }

func (e *Emulator) editMessage(c *call) any {
	switch {
	case author(c.message) != BotUser:
		return notOwn
	case c.channel.archived():
		return threadArchived
	case !e.mayEdit(c.channel, c.message):
		return tooManyEdits
	}
	if bad := e.apply(c.channel, c.message, c.sent(), true); bad != nil {
		return bad
	}
	return raw.Clone(c.message)
}

func (e *Emulator) deleteMessage(c *call) any {
	if author(c.message) != BotUser && !e.may(c.channel, "MANAGE_MESSAGES") {
		return notAllowed
	}
	e.remove(c.channel, c.PathValue("message"))
	return nil
}

// remove deletes a message and sends the event about it. The caller holds the
// lock.
func (e *Emulator) remove(ch *channel, id string) {
	ch.Remove(id)
	e.Touch()
	d := raw.Object{"id": id, "channel_id": ch.ID}
	if ch.Kind != directChannel {
		d["guild_id"] = Guild
	}
	e.toSessions(ch, "MESSAGE_DELETE", func(*session) raw.Object { return d })
}

// author returns the ID of the author of a message.
func author(m raw.Object) string { return raw.Str(raw.Sub(m, "author"), "id") }

// Flags of messages.
const (
	suppressEmbeds = 1 << 2
	ephemeral      = 1 << 6
	loading        = 1 << 7
	quiet          = 1 << 12
	componentsV2   = 1 << 15 // IS_COMPONENTS_V2
)

func flags(m raw.Object) int { n, _ := raw.Number(m, "flags"); return int(n) }

// sent holds the fields and files of a request that writes a message.
type sent struct {
	args  raw.Object
	files []file
	// replaces means that the files of an edit replace the files of the
	// message, even if the request does not list the ones to keep. API v10 does
	// this.
	replaces bool
}

func (c *call) sent() sent {
	return sent{c.args, c.files, strings.Contains(c.URL.Path, "/api/v10/")}
}

// apply checks the fields and files of a request and sets them on a message.
func (e *Emulator) apply(ch *channel, m raw.Object, in sent, edit bool) *failure {
	next := raw.Copy(m)
	if bad := requestShape.check("", in.args, false); bad != nil {
		return bad
	}
	if bad := takeFields(next, in.args, edit); bad != nil {
		return bad
	}
	if !e.may(ch, "EMBED_LINKS") {
		next["embeds"] = []any{}
	}
	if len(in.files) > 0 && !e.may(ch, "ATTACH_FILES") {
		return notAllowed
	}
	held, bad := e.attach(raw.Str(m, "id"), in, edit)
	if bad != nil {
		return bad
	}
	if bad := checkMessage(next, len(held) > 0); bad != nil {
		return bad
	}
	if bad := showAttachments(next, held); bad != nil {
		return bad
	}
	e.mention(next, in.args)
	if !edit {
		announce(next)
	} else {
		next["edited_timestamp"] = time.Now().UTC().Format(time.RFC3339Nano)
		next["edits"] = 1 + raw.Int(next["edits"])
	}
	for k, v := range next {
		m[k] = v
	}
	e.attached[raw.Str(m, "id")] = held
	numberComponents(raw.List(m, "components"))
	e.Touch()
	return nil
}

// takeFields sets the fields and flags of a request on a message.
func takeFields(next, args raw.Object, edit bool) *failure {
	for _, key := range []string{"content", "embeds", "components", "sticker_ids", "poll"} {
		if v, ok := args[key]; ok {
			next[key] = raw.Clone(v)
		}
	}
	if v, ok := args["embeds"]; ok && v == nil && edit && flags(args)&componentsV2 != 0 {
		// Only an empty list clears them: discord/discord-api-docs#7787.
		return legacyField("embeds")
	}
	for _, key := range []string{"embeds", "components"} {
		if next[key] == nil {
			next[key] = []any{}
		}
	}
	if next["content"] == nil {
		next["content"] = ""
	}
	return applyFlags(next, args, edit)
}

// applyFlags sets the flags that a bot may set. An edit cannot make a message
// ephemeral, and cannot turn components into content.
func applyFlags(next, args raw.Object, edit bool) *failure {
	was := flags(next) &^ loading
	next["flags"] = float64(was)
	given, ok := raw.Number(args, "flags")
	if !ok {
		return nil
	}
	settable := suppressEmbeds | componentsV2
	if !edit {
		settable |= ephemeral | quiet
	}
	if edit && was&componentsV2 != 0 && int(given)&componentsV2 == 0 {
		return invalid("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG",
			"The 'IS_COMPONENTS_V2' flag cannot be removed once set")
	}
	next["flags"] = float64(was&^settable | int(given)&settable)
	return nil
}

// Edits of messages older than an hour have a separate limit, which Discord
// does not publish. A developer reported three in 20 seconds for each channel:
// discord/discord-api-docs#4413.
const (
	oldAfter    = time.Hour
	oldEdits    = 3
	oldEditsPer = 20 * time.Second
)

// backdate makes a new message two hours old.
func backdate(m raw.Object, id int64) {
	const age = 2 * oldAfter
	m["id"] = snowflakeText(id - age.Milliseconds()<<22)
	m["timestamp"] = time.Now().Add(-age).UTC().Format(time.RFC3339Nano)
}

// mayEdit counts an edit of an old message, and reports whether the channel
// accepts it. The caller holds the lock.
func (e *Emulator) mayEdit(ch *channel, m raw.Object) bool {
	sent, err := time.Parse(time.RFC3339Nano, raw.Str(m, "timestamp"))
	if err != nil || time.Since(sent) < oldAfter {
		return true
	}
	ch.edits = slices.DeleteFunc(ch.edits, func(at time.Time) bool { return time.Since(at) > oldEditsPer })
	if len(ch.edits) >= oldEdits {
		return false
	}
	ch.edits = append(ch.edits, time.Now())
	return true
}
