package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func (e *Emulator) press(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	e.Lock()
	c := e.chats[chatID(a)]
	var clicked raw.Object
	if c != nil {
		clicked = raw.Copy(c.Seen(a.Message, m.ID))
	}
	if clicked == nil {
		e.Unlock()
		return core.Reaction{}, e.Errorf("no message %s in %s", a.Message, a.Channel)
	}
	// A good client sends only the data of a button, but a malicious client can
	// send any data. The emulator does not check the data, because tests act as
	// malicious clients.
	id := uuid.NewString()
	q := &query{
		answered: make(chan struct{}), created: e.Clock.Now(), user: m.ID, chat: c.ID, message: raw.Int(clicked["message_id"]),
	}
	e.queries[id] = q
	body := raw.Object{"callback_query": raw.Object{
		"id": id, "from": userJSON(m), "message": clicked, "chat_instance": c.ID, "data": a.Control,
	}}
	e.Unlock()
	times, err := e.Event(ctx, "event_drop")
	if errors.Is(err, core.ErrNoAnswer) {
		return core.Reaction{Warning: core.Loading}, nil
	}
	if err != nil {
		return core.Reaction{}, err
	}
	e.Lock()
	for range times {
		e.push(body, callbackTTL)
	}
	e.Unlock()
	ctx, cancel := e.Clock.WithTimeout(ctx, patience)
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
func (e *Emulator) write(m core.Account, a core.Action) (core.Reaction, error) {
	readsAll := e.Has("privacy_off")
	e.Lock()
	defer e.Unlock()
	c := e.chats[chatID(a)]
	if c == nil || c.Kind == private && c.User != m.ID {
		return core.Reaction{}, e.Errorf("%s is in no chat %s", m.Key, a.Channel)
	}
	if a.Text == "" || raw.Runes(a.Text) > maxText {
		return core.Reaction{}, e.Errorf("a message has 1 to %d characters", maxText)
	}
	msg := c.blank(userJSON(m))
	msg["text"] = a.Text
	note(msg, "text", nil, true)
	toBot := c.Kind == private || commandTo(msg) || readsAll
	if a.Do == "reply" {
		original := raw.Copy(c.Message(a.Message))
		if original == nil {
			return core.Reaction{}, e.Errorf("no message %s in %s", a.Message, a.Channel)
		}
		delete(original, "reply_to_message")
		msg["reply_to_message"] = original
		if bad := c.place(msg, 0); bad != nil {
			return core.Reaction{}, e.Errorf("%s", bad.description)
		}
		toBot = toBot || fromBot(original)
	}
	c.Add(msg)
	e.Touch()
	if toBot {
		e.push(raw.Object{"message": raw.Copy(msg)}, messageTTL)
	}
	return core.Reaction{OK: true}, nil
}

// flatten turns off the topics of a forum. Its messages remain, without a
// topic.
func (e *Emulator) flatten(a core.Action) (core.Reaction, error) {
	e.Lock()
	defer e.Unlock()
	c := e.chats[chatID(a)]
	if c == nil || len(c.topics) == 0 {
		return core.Reaction{}, e.Errorf("%s has no topics", a.Channel)
	}
	c.topics = nil
	e.Touch()
	return core.Reaction{OK: true}, nil
}

// upgrade turns a basic group into a supergroup. Old messages remain in the
// basic group, which accepts no new ones.
func (e *Emulator) upgrade(m core.Account, a core.Action) (core.Reaction, error) {
	e.Lock()
	defer e.Unlock()
	c := e.chats[chatID(a)]
	if c == nil || c.Kind != group || c.moved != 0 {
		return core.Reaction{}, e.Errorf("%s is not a basic group", a.Channel)
	}
	c.moved = Grown
	grown := e.add(strconv.FormatInt(Grown, 10), c.Name, supergroup)
	out, in := c.blank(userJSON(m)), grown.blank(userJSON(m))
	out["migrate_to_chat_id"], in["migrate_from_chat_id"] = Grown, number(c.ID)
	for chat, msg := range map[*chat]raw.Object{c: out, grown: in} {
		chat.Add(msg)
		e.push(raw.Object{"message": raw.Copy(msg)}, messageTTL)
	}
	e.Touch()
	return core.Reaction{OK: true}, nil
}

// query is a click that waits for answerCallbackQuery.
type query struct {
	answered chan struct{}
	done     bool
	created  time.Time
	reaction core.Reaction
	// The member who clicked, and the clicked message.
	user, chat string
	message    int
}

// answer implements the method answerCallbackQuery.
func (e *Emulator) answer(a arguments) (any, *failure) {
	cb := e.queries[a.text("callback_query_id")]
	if cb == nil || cb.done || e.Clock.Since(cb.created) > queryTTL {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if raw.Runes(a.text("text")) > maxToast {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	cb.done = true
	cb.reaction = core.Reaction{OK: true, Toast: a.text("text"), Alert: a.text("show_alert") == "true"}
	close(cb.answered)
	return true, nil
}
