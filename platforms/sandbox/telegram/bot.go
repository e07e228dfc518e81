package telegram

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// bot is the state of a Telegram bot and its chats. The lock of the hub guards
// it.
type bot struct {
	*core.Base
	chats     map[string]*chat
	files     core.Files
	documents map[string]raw.Object // documents by file ID
}

// chat is a group or a private chat. A private chat has the ID of its user.
type chat struct {
	core.Chat
	Kind string // supergroup, group or private
	last int    // ID of the newest message
	// topics holds the IDs of a forum's topics. A chat without topics is not a
	// forum.
	topics []int
	moved  int64 // ID of the supergroup that a basic group became; zero if it is still a basic group
	// whispers is the ID of the newest ephemeral message.
	whispers int
}

const (
	supergroup = "supergroup"
	group      = "group"
	private    = "private"
)

func newBot(b *core.Base) *bot {
	out := &bot{Base: b, chats: map[string]*chat{}, documents: map[string]raw.Object{}}
	out.add(strconv.FormatInt(Chat, 10), "Deploys", supergroup).last = 10
	forum := out.add(strconv.FormatInt(Forum, 10), "Projects", supergroup)
	forum.last, forum.topics = 10, []int{Topic}
	out.add(strconv.FormatInt(Small, 10), "Small team", group)
	for _, m := range b.Members {
		out.add(m.ID, m.Name, private).User = m.ID
	}
	return out
}

func (b *bot) add(id, name, kind string) *chat {
	c := &chat{Chat: core.NewChat(id, name, idOf), Kind: kind}
	b.chats[id], b.Chats[id] = c, &c.Chat
	return c
}

// number returns an ID as a number, or 0.
func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64) // chats, users and messages never have the ID 0
	return n
}

// chat finds the chat of a call.
func (b *bot) chat(a arguments) (*chat, *failure) {
	if c := b.chats[strconv.FormatInt(a.number("chat_id"), 10)]; c != nil {
		return c, nil
	}
	return nil, badRequest("chat not found")
}

// closed returns the error for a bot that posts in a basic group which became a
// supergroup.
func (c *chat) closed() *failure {
	if c.moved == 0 {
		return nil
	}
	bad := badRequest("group chat was upgraded to a supergroup chat")
	bad.parameters = raw.Object{"migrate_to_chat_id": c.moved}
	return bad
}

func (c *chat) json() raw.Object {
	if c.Kind == private {
		return raw.Object{"id": number(c.ID), "type": private, "first_name": c.Name}
	}
	out := raw.Object{"id": number(c.ID), "type": c.Kind, "title": c.Name}
	if len(c.topics) > 0 {
		out["is_forum"] = true
	}
	return out
}

// place sets the thread of a message. A caller can select only a topic. Any
// other reply in a supergroup has the thread of its original, which is a topic
// only if is_topic_message is set.
func (c *chat) place(m raw.Object, topic int) *failure {
	original := raw.Sub(m, "reply_to_message")
	switch {
	case topic != 0 && !slices.Contains(c.topics, topic):
		return badRequest("message thread not found")
	case topic != 0:
		m["message_thread_id"], m["is_topic_message"] = topic, true
	case original == nil || c.Kind != supergroup:
	case original["is_topic_message"] == true && len(c.topics) > 0:
		m["message_thread_id"], m["is_topic_message"] = raw.Int(original["message_thread_id"]), true
	default:
		root := raw.Int(original["message_thread_id"])
		if root == 0 {
			root = raw.Int(original["message_id"])
		}
		m["message_thread_id"] = root
	}
	return nil
}

// blank returns a new message without content.
func (c *chat) blank(from raw.Object) raw.Object {
	c.last++
	return raw.Object{"message_id": c.last, "from": from, "chat": c.json(), "date": int(time.Now().Unix())}
}

func botJSON() raw.Object {
	return raw.Object{"id": BotID, "is_bot": true, "first_name": "nod", "username": Username}
}

func userJSON(m core.Account) raw.Object {
	return raw.Object{
		"id": number(m.ID), "is_bot": false, "first_name": m.Name, "username": m.Key + "_tg", "language_code": "en",
	}
}

// fromBot reports whether the bot sent a message.
func fromBot(m raw.Object) bool { return raw.Int(raw.Sub(m, "from")["id"]) == int(BotID) }

// State is a copy of the chats and of the state of the queue.
type State struct {
	Polling bool             `json:"polling"`
	Handed  int              `json:"handed"` // updates that getUpdates returned, including repeats
	Chats   []core.ChatState `json:"chats"`
}

// State returns a copy of the chats. The caller holds the lock.
func (e *Emulator) State() State {
	return State{Polling: e.Connections() > 0, Handed: e.updates.handed, Chats: e.States()}
}

// AddChannel adds a group and returns its ID. A different n adds a different
// group.
func (e *Emulator) AddChannel(n int) string {
	e.Lock()
	defer e.Unlock()
	return e.add(strconv.FormatInt(-1002000000000-int64(n), 10), "More "+strconv.Itoa(n), supergroup).ID
}

// Connections returns 1 if the bot has polled or has a webhook, and otherwise
// 0. The caller holds the lock.
func (e *Emulator) Connections() int {
	if e.updates.pollers > 0 || e.updates.webhook != "" {
		return 1
	}
	return 0
}
