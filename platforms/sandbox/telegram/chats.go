package telegram

import (
	"maps"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// chatsAPI has the methods of the bot itself, of chats and of their members.
type chatsAPI struct{ *bot }

func (api chatsAPI) getMe(arguments) (any, *failure) {
	me := botJSON()
	maps.Copy(me, none(abilities))
	me["can_join_groups"], me["can_read_all_group_messages"], me["supports_inline_queries"] = true, false, false
	return me, nil
}

func (api chatsAPI) getChat(a arguments) (any, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, bad
	}
	return c.full(), nil
}

// actions lists the states that a bot may announce. Clients show a state for a
// few seconds. The sandbox does not show it.
var actions = []string{
	"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document",
	"choose_sticker", "find_location", "record_video_note", "upload_video_note",
}

func (api chatsAPI) sendAction(a arguments) (any, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, bad
	}
	if !slices.Contains(actions, a.text("action")) {
		return nil, badRequest("wrong parameter action in request")
	}
	return true, c.closed()
}

func (api chatsAPI) getMember(a arguments) (any, *failure) {
	c, bad := api.chat(a)
	if bad != nil {
		return nil, bad
	}
	user := a.number("user_id")
	if user == BotID && c.Kind != private {
		if a.denied {
			out := none(memberRights)
			out["status"], out["user"], out["is_member"], out["until_date"] = "restricted", botJSON(), true, 0
			return out, nil
		}
		return raw.Object{"status": "member", "user": botJSON()}, nil
	}
	m, known := api.ByID(strconv.FormatInt(user, 10))
	if !known {
		return nil, badRequest("user not found")
	}
	out := raw.Object{"status": "member"}
	if slices.Contains(api.GroupsOf(m), c.ID) {
		out = none(adminRights)
		out["status"] = "administrator"
	}
	out["user"] = userJSON(m)
	return out, nil
}
