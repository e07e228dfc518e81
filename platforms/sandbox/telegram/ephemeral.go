package telegram

import (
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
func (api messagesAPI) receiver(c *chat, a arguments) (*recipient, *failure) {
	var p raw.Object
	if err := a.structure("ephemeral_message_parameters", &p); err != nil {
		return nil, badRequest("can't parse ephemeral message parameters JSON object")
	}
	if p == nil || a.server < privateMessages {
		return nil, nil
	}
	if c.Kind == private {
		return nil, badRequest("ephemeral messages can be sent only to groups and supergroups")
	}
	m, known := api.ByID(raw.Text(p["receiver_user_id"]))
	if !known {
		return nil, badRequest("user not found")
	}
	q := api.queries.byID[raw.Str(p, "callback_query_id")]
	if q == nil || q.user != m.ID || q.chat != c.ID || api.Clock.Since(q.created) > privateTTL {
		return nil, badRequest("not enough rights to send ephemeral messages to the user")
	}
	to := &recipient{Account: m}
	if p["replace_callback_query_message"] == true {
		to.replaces = q.message
	}
	return to, nil
}

// whisper shows a message to one member.
func (api messagesAPI) whisper(c *chat, m raw.Object, to recipient) {
	for k, v := range c.blank(botJSON()) {
		m[k] = v
	}
	c.last-- // an ephemeral message has no number in the chat
	c.whispers++
	m["message_id"], m["ephemeral_message_id"], m["receiver_user"] = 0, c.whispers, userJSON(to.Account)
	m["after"] = c.last
	if to.replaces != 0 {
		m["replaces"] = to.replaces
	}
	c.AddPrivate(to.ID, m)
	api.Touch()
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
func (api messagesAPI) deleteEphemeral(a arguments) (any, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, bad
	}
	id, user := "e"+a.text("ephemeral_message_id"), a.text("receiver_user_id")
	n := slices.IndexFunc(c.Private, func(p core.PrivateState) bool { return p.User == user && idOf(p.Message) == id })
	if n < 0 {
		return nil, badRequest("message not found")
	}
	c.Private = slices.Delete(c.Private, n, n+1)
	api.Touch()
	return true, nil
}
