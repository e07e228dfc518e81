package discord

import "github.com/nodbridge/nod/platforms/sandbox/raw"

// guildsAPI has the routes of guilds, members and channels.
type guildsAPI struct{ *guild }

func (api guildsAPI) getGuild(*call) (int, any, *failure) {
	return 200, raw.Object{
		"id": Guild, "name": "Sandbox", "owner_id": api.Members[0].ID, "roles": api.rolesJSON(), "emojis": []any{},
		"stickers": []any{}, "features": []any{},
	}, nil
}

func (api guildsAPI) getRoles(*call) (int, any, *failure) {
	return 200, api.rolesJSON(), nil
}

func (api guildsAPI) getUser(c *call) (int, any, *failure) {
	if c.PathValue("user") == BotUser {
		return 200, botJSON(), nil
	}
	m, known := api.ByID(c.PathValue("user"))
	if !known {
		return 0, nil, unknownUser
	}
	return 200, userJSON(m), nil
}

func (api guildsAPI) getMember(c *call) (int, any, *failure) {
	if c.PathValue("user") == BotUser {
		return 200, memberJSON(botJSON(), []string{}), nil
	}
	m, known := api.ByID(c.PathValue("user"))
	if !known {
		return 0, nil, unknownMember
	}
	return 200, memberJSON(userJSON(m), api.GroupsOf(m)), nil
}

func memberJSON(user raw.Object, roles []string) raw.Object {
	return raw.Object{
		"user": user, "roles": roles, "joined_at": "2026-01-01T00:00:00.000000+00:00",
		"deaf": false, "mute": false, "flags": 0,
	}
}

func (api guildsAPI) createDM(c *call) (int, any, *failure) {
	m, known := api.ByID(raw.Str(c.args, "recipient_id"))
	if !known {
		return 0, nil, cannotSend
	}
	return 200, api.direct(m).json(), nil
}

func (api guildsAPI) getChannel(c *call) (int, any, *failure) {
	if !api.may(c.channel, "VIEW_CHANNEL") {
		return 0, nil, noAccess
	}
	return 200, c.channel.json(), nil
}
