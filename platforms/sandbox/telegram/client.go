package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// client is the Telegram client of the members. It turns their actions into
// updates.
type client struct {
	*bot
	updates *updates
	queries *queries
}

func (cl client) press(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	c := cl.chats[chatID(a)]
	var clicked raw.Object
	if c != nil {
		clicked = raw.Copy(c.Seen(a.Message, m.ID))
	}
	if clicked == nil {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("no message %s in %s", a.Message, a.Channel)
	}
	// A good client sends only the data of a button, but a malicious client can
	// send any data. The emulator does not check the data, because tests act as
	// malicious clients.
	id := uuid.NewString()
	q := cl.queries.add(id, m.ID, c.ID, raw.Int(clicked["message_id"]))
	body := raw.Object{"callback_query": raw.Object{
		"id": id, "from": userJSON(m), "message": clicked, "chat_instance": c.ID, "data": a.Control,
	}}
	cl.Unlock()
	times, err := cl.Event(ctx, "event_drop")
	if errors.Is(err, core.ErrNoAnswer) {
		return core.Reaction{Warning: core.Loading}, nil
	}
	if err != nil {
		return core.Reaction{}, err
	}
	cl.Lock()
	for range times {
		cl.updates.push(body, callbackTTL)
	}
	cl.Unlock()
	ctx, cancel := cl.Clock.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-q.answered:
		return q.reaction, nil
	case <-ctx.Done():
	}
	return core.Reaction{Warning: core.Loading}, nil
}

// chatID returns the canonical ID of the chat of an action.
func chatID(a core.Action) string { return strconv.FormatInt(number(a.Channel), 10) }

// commandTo reports whether a message starts with a command that is not
// addressed to another bot.
func commandTo(m raw.Object) bool {
	for _, e := range raw.Objects(m, "entities") {
		if raw.Str(e, "type") == "bot_command" && raw.Int(e["offset"]) == 0 {
			_, name, addressed := strings.Cut(cutUTF16(raw.Str(m, "text"), 0, raw.Int(e["length"])), "@")
			return !addressed || strings.EqualFold(name, Username)
		}
	}
	return false
}

// write sends a message of a member to a chat, or a reply to a message. Unless
// the fault privacy_off applies, the bot has privacy mode: in a group, it
// receives only commands and replies to its own messages.
func (cl client) write(m core.Account, a core.Action) (core.Reaction, error) {
	readsAll := cl.Has("privacy_off")
	cl.Lock()
	defer cl.Unlock()
	c := cl.chats[chatID(a)]
	if c == nil || c.Kind == private && c.User != m.ID {
		return core.Reaction{}, cl.Errorf("%s is in no chat %s", m.Key, a.Channel)
	}
	if a.Text == "" || raw.Runes(a.Text) > maxText {
		return core.Reaction{}, cl.Errorf("a message has 1 to %d characters", maxText)
	}
	msg := c.blank(userJSON(m))
	msg["text"] = a.Text
	note(msg, "text", nil, true)
	toBot := c.Kind == private || commandTo(msg) || readsAll
	if a.Do == "reply" {
		original := raw.Copy(c.Message(a.Message))
		if original == nil {
			return core.Reaction{}, cl.Errorf("no message %s in %s", a.Message, a.Channel)
		}
		delete(original, "reply_to_message")
		msg["reply_to_message"] = original
		if bad := c.place(msg, 0); bad != nil {
			return core.Reaction{}, cl.Errorf("%s", bad.description)
		}
		toBot = toBot || fromBot(original)
	}
	c.Add(msg)
	cl.Touch()
	if toBot {
		cl.updates.push(raw.Object{"message": raw.Copy(msg)}, messageTTL)
	}
	return core.Reaction{OK: true}, nil
}

// flatten turns off the topics of a forum. Its messages remain, without a
// topic.
func (cl client) flatten(a core.Action) (core.Reaction, error) {
	cl.Lock()
	defer cl.Unlock()
	c := cl.chats[chatID(a)]
	if c == nil || len(c.topics) == 0 {
		return core.Reaction{}, cl.Errorf("%s has no topics", a.Channel)
	}
	c.topics = nil
	cl.Touch()
	return core.Reaction{OK: true}, nil
}

// upgrade turns a basic group into a supergroup. Old messages remain in the
// basic group, which accepts no new ones.
func (cl client) upgrade(m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	defer cl.Unlock()
	c := cl.chats[chatID(a)]
	if c == nil || c.Kind != group || c.moved != 0 {
		return core.Reaction{}, cl.Errorf("%s is not a basic group", a.Channel)
	}
	c.moved = Grown
	grown := cl.add(strconv.FormatInt(Grown, 10), c.Name, supergroup)
	out, in := c.blank(userJSON(m)), grown.blank(userJSON(m))
	out["migrate_to_chat_id"], in["migrate_from_chat_id"] = Grown, number(c.ID)
	for chat, msg := range map[*chat]raw.Object{c: out, grown: in} {
		chat.Add(msg)
		cl.updates.push(raw.Object{"message": raw.Copy(msg)}, messageTTL)
	}
	cl.Touch()
	return core.Reaction{OK: true}, nil
}
