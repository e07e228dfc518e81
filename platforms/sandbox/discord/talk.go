package discord

import (
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Intents of the gateway for messages: docs.discord.com/developers/events/gateway.
const (
	intentMessages = 1 << 9
	intentDirect   = 1 << 12
	intentContent  = 1 << 15
)

// talk posts a message of a member, or a reply to a message. A reply mentions
// the author of that message unless the value of mention is off. The caller
// holds the lock.
func (e *Emulator) talk(m core.Account, a core.Action) error {
	ch := e.channels[a.Channel]
	switch {
	case ch == nil || ch.Kind == directChannel && ch.User != m.ID:
		return e.Errorf("%s is in no channel %q", m.Key, a.Channel)
	case ch.locked:
		return e.Errorf("the thread is locked")
	case a.Text == "" && a.Values["file"] == nil || raw.Runes(a.Text) > maxContent:
		return e.Errorf("a message has 1 to %d characters", maxContent)
	}
	msg := e.blank(ch)
	delete(msg, "application_id")
	msg["author"], msg["content"] = userJSON(m), a.Text
	if a.Do == "reply" {
		original := ch.Seen(a.Message, m.ID)
		if original == nil {
			return e.Errorf("no message %q in %s", a.Message, a.Channel)
		}
		refer(msg, ch, original)
	}
	e.mention(msg, raw.Object{})
	if original := raw.Sub(msg, "referenced_message"); strings.Contains(a.Text, "<@"+BotUser+">") ||
		original != nil && author(original) == BotUser && !slices.Contains(a.Values["mention"], "off") {
		msg["mentions"] = append(raw.List(msg, "mentions"), botJSON())
	}
	if a.Values["file"] != nil {
		msg["attachments"] = []any{e.upload(file{}, a.Values["file"][0])}
	}
	ch.Add(msg)
	ch.reopen()
	e.Touch()
	e.dispatch("MESSAGE_CREATE", ch, e.around(m, ch), msg)
	return nil
}

// around returns the fields of a message event that are not part of the
// message.
func (e *Emulator) around(m core.Account, ch *channel) raw.Object {
	if ch.Kind == directChannel {
		return raw.Object{}
	}
	return raw.Object{"guild_id": Guild, "member": memberJSON(nil, e.GroupsOf(m))}
}

// edit changes the text of a message by the member. The caller holds the lock.
func (e *Emulator) edit(m core.Account, a core.Action) error {
	ch := e.channels[a.Channel]
	if ch == nil || author(ch.Message(a.Message)) != m.ID || a.Text == "" {
		return e.Errorf("no message %q of %s in %q to edit", a.Message, m.Key, a.Channel)
	}
	msg := ch.Message(a.Message)
	msg["content"], msg["edited_timestamp"] = a.Text, time.Now().UTC().Format(time.RFC3339Nano)
	e.Touch()
	e.dispatch("MESSAGE_UPDATE", ch, e.around(m, ch), msg)
	return nil
}

// takeDown deletes a message as a moderator does. The caller holds the lock.
func (e *Emulator) takeDown(a core.Action) error {
	ch := e.channels[a.Channel]
	if ch == nil || ch.Message(a.Message) == nil {
		return e.Errorf("no message %q in %q", a.Message, a.Channel)
	}
	e.remove(ch, a.Message)
	return nil
}

// refer makes a message a reply.
func refer(m raw.Object, ch *channel, original raw.Object) {
	quoted := raw.Copy(original)
	delete(quoted, "referenced_message")
	m["type"], m["referenced_message"] = 19, quoted
	m["message_reference"] = raw.Object{"type": 0, "channel_id": ch.ID, "message_id": original["id"], "guild_id": Guild}
}

// replyTo makes a message a reply to the message in message_reference, if that is
// set.
func (e *Emulator) replyTo(m, args raw.Object, ch *channel) *failure {
	ref := raw.Sub(args, "message_reference")
	if ref == nil || m["referenced_message"] != nil {
		return nil
	}
	original := ch.Message(raw.Str(ref, "message_id"))
	switch {
	case original != nil:
		refer(m, ch, original)
	case ref["fail_if_not_exists"] != false:
		return invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	return nil
}

// visible returns a message in the form that a bot with the given intents gets.
// Without the intent for content, a bot can read only its own messages, direct
// messages, and messages that mention it.
func visible(m raw.Object, ch *channel, intents int) raw.Object {
	d := raw.Copy(m)
	own := author(m) == BotUser
	named := slices.ContainsFunc(raw.Objects(d, "mentions"), func(u raw.Object) bool { return raw.Str(u, "id") == BotUser })
	if intents&intentContent != 0 || own || named || ch.Kind == directChannel {
		return d
	}
	d["content"] = ""
	for _, key := range []string{"embeds", "attachments", "components"} {
		d[key] = []any{}
	}
	return d
}
