package telegram

import (
	"maps"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// recipient is the member who gets an ephemeral message.
type recipient struct {
	core.Account
	replaces int // ID of the message that it replaces in the client, or 0
}

// receiver returns the member who gets the ephemeral message of a call, or nil
// if the message is for everyone. Telegram publishes the rules, but no error
// texts.
func (e *Emulator) receiver(c *chat, a arguments) (*recipient, *failure) {
	p, bad := a.object("ephemeral_message_parameters", "ephemeral message parameters")
	if bad != nil || p == nil || a.server < privateMessages {
		return nil, bad
	}
	if c.Kind == private {
		return nil, badRequest("ephemeral messages can be sent only to groups and supergroups")
	}
	m, known := e.ByID(raw.Text(p["receiver_user_id"]))
	if !known {
		return nil, badRequest("user not found")
	}
	q := e.queries[raw.Str(p, "callback_query_id")]
	if q == nil || q.user != m.ID || q.chat != c.ID || e.Clock.Since(q.created) > privateTTL {
		return nil, badRequest("not enough rights to send ephemeral messages to the user")
	}
	to := &recipient{Account: m}
	if p["replace_callback_query_message"] == true {
		to.replaces = q.message
	}
	return to, nil
}

// whisper shows a message to one member.
func (e *Emulator) whisper(c *chat, m raw.Object, to recipient) {
	maps.Copy(m, c.blank(botJSON()))
	c.last-- // an ephemeral message has no number in the chat
	c.whispers++
	m["message_id"], m["ephemeral_message_id"], m["receiver_user"] = 0, c.whispers, userJSON(to.Account)
	m["after"] = c.last
	if to.replaces != 0 {
		m["replaces"] = to.replaces
	}
	c.AddPrivate(to.ID, m)
	e.Touch()
}

// idOf returns the ID of a message in the control API. In the Bot API, an
// ephemeral message has no ID.
func idOf(m raw.Object) string {
	if id := raw.Int(m["ephemeral_message_id"]); id != 0 {
		return "e" + strconv.Itoa(id)
	}
	return strconv.Itoa(raw.Int(m["message_id"]))
}

// deleteEphemeral deletes an ephemeral message of a member.
func (e *Emulator) deleteEphemeral(a arguments) (any, *failure) {
	c := a.chat
	id, user := "e"+a.text("ephemeral_message_id"), a.text("receiver_user_id")
	n := slices.IndexFunc(c.Private, func(p core.PrivateState) bool { return p.User == user && idOf(p.Message) == id })
	if n < 0 {
		return nil, badRequest("message not found")
	}
	c.Private = slices.Delete(c.Private, n, n+1)
	e.Touch()
	return true, nil
}
