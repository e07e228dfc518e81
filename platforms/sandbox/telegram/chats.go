package telegram

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

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

func (e *Emulator) add(id, name, kind string) *chat {
	c := &chat{Chat: core.NewChat(id, name, idOf), Kind: kind}
	e.chats[id], e.Chats[id] = c, &c.Chat
	return c
}

// number returns an ID as a number, or 0.
func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64) // chats, users and messages never have the ID 0
	return n
}

// chat finds the chat of a call.
func (e *Emulator) chat(a arguments) (*chat, *failure) {
	if c := e.chats[strconv.FormatInt(a.number("chat_id"), 10)]; c != nil {
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

func (e *Emulator) getMe(arguments) (any, *failure) {
	me := botJSON()
	maps.Copy(me, none(abilities))
	me["can_join_groups"], me["can_read_all_group_messages"], me["supports_inline_queries"] = true, false, false
	return me, nil
}

func (e *Emulator) getChat(a arguments) (any, *failure) {
	return a.chat.full(), nil
}

// sendAction announces that the bot types. The sandbox does not show it.
func (e *Emulator) sendAction(a arguments) (any, *failure) {
	if a.text("action") != "typing" {
		return nil, badRequest("wrong parameter action in request")
	}
	return true, a.chat.closed()
}

func (e *Emulator) getMember(a arguments) (any, *failure) {
	user := a.number("user_id")
	if user == BotID && a.chat.Kind != private {
		if a.denied {
			out := none(memberRights)
			out["status"], out["user"], out["is_member"], out["until_date"] = "restricted", botJSON(), true, 0
			return out, nil
		}
		return raw.Object{"status": "member", "user": botJSON()}, nil
	}
	m, known := e.ByID(strconv.FormatInt(user, 10))
	if !known {
		return nil, badRequest("user not found")
	}
	out := raw.Object{"status": "member"}
	if slices.Contains(e.GroupsOf(m), a.chat.ID) {
		out = none(adminRights)
		out["status"] = "administrator"
	}
	out["user"] = userJSON(m)
	return out, nil
}

// Rights of administrators and of restricted members. Clients expect all of
// these fields: core.telegram.org/bots/api#chatmember.
var (
	adminRights = []string{
		"can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages", "can_manage_video_chats",
		"can_restrict_members", "can_promote_members", "can_change_info", "can_invite_users", "can_post_stories",
		"can_edit_stories", "can_delete_stories", "can_manage_direct_messages", "can_manage_tags",
		"can_send_welcome_messages",
	}
	memberRights = []string{
		"can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
		"can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
		"can_add_web_page_previews", "can_react_to_messages", "can_edit_tag", "can_change_info", "can_invite_users",
		"can_pin_messages", "can_manage_topics",
	}
	abilities = []string{
		"can_connect_to_business", "has_main_web_app", "has_topics_enabled", "allows_users_to_create_topics",
		"can_manage_bots", "supports_guest_queries", "supports_join_request_queries",
	}
	gifts = []string{"unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"}
)

// none returns an object whose fields are all false.
func none(fields []string) raw.Object {
	out := raw.Object{}
	for _, f := range fields {
		out[f] = false
	}
	return out
}

// full returns a chat in the format of getChat.
func (c *chat) full() raw.Object {
	out := c.json()
	out["accent_color_id"], out["max_reaction_count"], out["accepted_gift_types"] = 0, 11, none(gifts)
	return out
}
