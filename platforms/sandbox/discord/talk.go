package discord

import (
	"cmp"
	"slices"
	"strconv"
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

// talk posts a message of a member, or a reply to a message. A reply mentions the
// author of that message unless the value mention is off. The caller holds the
// lock.
func (cl client) talk(m core.Account, a core.Action) error {
	ch := cl.channels[a.Channel]
	switch {
	case ch == nil || ch.Kind == directChannel && ch.User != m.ID:
		return cl.Errorf("%s is in no channel %q", m.Key, a.Channel)
	case ch.locked:
		return cl.Errorf("the thread is locked")
	case a.Text == "" && a.Values["file"] == nil || raw.Runes(a.Text) > maxContent:
		return cl.Errorf("a message has 1 to %d characters", maxContent)
	}
	msg := cl.blank(ch)
	delete(msg, "application_id")
	msg["author"], msg["content"] = userJSON(m), a.Text
	if a.Do == "reply" {
		original := ch.Seen(a.Message, m.ID)
		if original == nil {
			return cl.Errorf("no message %q in %s", a.Message, a.Channel)
		}
		refer(msg, ch, original)
	}
	cl.mention(msg, raw.Object{})
	if original := raw.Sub(msg, "referenced_message"); strings.Contains(a.Text, "<@"+BotUser+">") ||
		original != nil && raw.Str(raw.Sub(original, "author"), "id") == BotUser && !slices.Contains(a.Values["mention"], "off") {
		msg["mentions"] = append(raw.List(msg, "mentions"), botJSON())
	}
	if a.Values["file"] != nil {
		msg["attachments"] = []any{cl.upload(file{}, a.Values["file"][0])}
	}
	ch.Add(msg)
	ch.reopen()
	cl.Touch()
	cl.gateway.dispatch("MESSAGE_CREATE", ch, cl.around(m, ch), msg)
	return nil
}

// around returns the fields of the event of a message other than the message.
func (cl client) around(m core.Account, ch *channel) raw.Object {
	if ch.Kind == directChannel {
		return raw.Object{}
	}
	return raw.Object{"guild_id": Guild, "member": memberJSON(nil, cl.GroupsOf(m))}
}

// edit changes the text of a message of the member. The caller holds the lock.
func (cl client) edit(m core.Account, a core.Action) error {
	ch := cl.channels[a.Channel]
	if ch == nil || ch.Message(a.Message) == nil || raw.Str(raw.Sub(ch.Message(a.Message), "author"), "id") != m.ID || a.Text == "" {
		return cl.Errorf("no message %q of %s in %q to edit", a.Message, m.Key, a.Channel)
	}
	msg := ch.Message(a.Message)
	msg["content"], msg["edited_timestamp"] = a.Text, time.Now().UTC().Format(time.RFC3339Nano)
	cl.Touch()
	cl.gateway.dispatch("MESSAGE_UPDATE", ch, cl.around(m, ch), msg)
	return nil
}

// remove deletes a message, as a moderator can. The caller holds the lock.
func (cl client) remove(a core.Action) error {
	ch := cl.channels[a.Channel]
	if ch == nil || ch.Message(a.Message) == nil {
		return cl.Errorf("no message %q in %q", a.Message, a.Channel)
	}
	ch.Remove(a.Message)
	cl.Touch()
	cl.gateway.removed(ch, a.Message)
	return nil
}

// refer makes a message a reply.
func refer(m raw.Object, ch *channel, original raw.Object) {
	quoted := raw.Copy(original)
	delete(quoted, "referenced_message")
	m["type"], m["referenced_message"] = 19, quoted
	m["message_reference"] = raw.Object{"type": 0, "channel_id": ch.ID, "message_id": original["id"], "guild_id": Guild}
}

// reply makes a message the reply that message_reference names, if there is one.
func (g *guild) reply(m, args raw.Object, ch *channel) *failure {
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

// visible returns a message as a bot with some intents gets it. Without the
// intent for content, a bot reads only its own messages, direct messages, and
// messages that mention it.
func visible(m raw.Object, ch *channel, intents int) raw.Object {
	d := raw.Copy(m)
	own := raw.Str(raw.Sub(m, "author"), "id") == BotUser
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

// list returns messages, newest first. It takes limit and one of before, after
// and around.
func (api messagesAPI) list(c *call) (int, any, *failure) {
	ch := api.channels[c.PathValue("channel")]
	if ch == nil {
		return 0, nil, unknownChannel
	}
	most := defaultHistory
	query := c.URL.Query()
	if given := query.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > maxHistory {
			return 0, nil, invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
		most = n
	}
	if !api.may(ch, "READ_MESSAGE_HISTORY") {
		return 200, []any{}, nil
	}
	all := raw.All(ch.Newest(len(ch.Messages)))
	order := func(m raw.Object, id string) int {
		return cmp.Or(cmp.Compare(len(raw.Str(m, "id")), len(id)), strings.Compare(raw.Str(m, "id"), id))
	}
	found := slices.DeleteFunc(all, func(m raw.Object) bool {
		before, after := query.Get("before"), query.Get("after")
		return before != "" && order(m, before) >= 0 || after != "" && order(m, after) <= 0
	})
	from := 0
	if around := query.Get("around"); around != "" {
		at := slices.IndexFunc(found, func(m raw.Object) bool { return order(m, around) <= 0 })
		from = max(0, at-most/2)
	} else if query.Get("after") != "" {
		from = max(0, len(found)-most)
	}
	out := []any{}
	for _, m := range found[from:min(len(found), from+most)] {
		out = append(out, m)
	}
	return 200, out, nil
}

// typing shows that the bot is typing, which nothing else depends on.
func (api messagesAPI) typing(c *call) (int, any, *failure) {
	ch := api.channels[c.PathValue("channel")]
	if ch == nil {
		return 0, nil, unknownChannel
	}
	return 204, nil, api.mayPost(ch, c)
}

// react adds or removes a reaction of the bot.
func (api messagesAPI) react(c *call) (int, any, *failure) {
	_, m, bad := api.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	emoji := c.PathValue("emoji")
	if emoji == "" || raw.Runes(emoji) > maxEmoji {
		return 0, nil, &failure{400, 10014, "Unknown Emoji", nil}
	}
	reactions := slices.DeleteFunc(raw.List(m, "reactions"), func(v any) bool {
		r, _ := v.(raw.Object)
		return raw.Str(raw.Sub(r, "emoji"), "name") == emoji
	})
	if c.Method == "PUT" {
		reactions = append(reactions, raw.Object{"count": 1, "me": true, "emoji": raw.Object{"id": nil, "name": emoji}})
	}
	m["reactions"] = reactions
	api.Touch()
	return 204, nil, nil
}
