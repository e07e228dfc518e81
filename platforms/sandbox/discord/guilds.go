package discord

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func (e *Emulator) me(*call) any { return botJSON() }

func (e *Emulator) application(c *call) any {
	var endpoint any
	if c.endpoint {
		endpoint = "https://elsewhere.example.com/interactions"
	} else if e.opts.URL != "" {
		endpoint = e.opts.URL
	}
	return raw.Object{
		"interactions_endpoint_url": endpoint, "id": Application, "name": "nod", "flags": 0,
		"verify_key": fmt.Sprintf("%x", e.PublicKey()), "bot": botJSON(), "description": "", "icon": nil, "summary": "",
		"bot_public": false, "bot_require_code_grant": false, "team": nil, "flags_new": "0",
		"owner": userJSON(e.Members[0]), "rpc_origins": []any{}, "redirect_uris": []any{}, "hook": true, "tags": []any{},
		"approximate_guild_count": 1, "approximate_user_install_count": 0,
	}
}

func (e *Emulator) getGuild(*call) any {
	return raw.Object{
		"id": Guild, "name": "Sandbox", "owner_id": e.Members[0].ID, "roles": e.rolesJSON(), "emojis": []any{},
		"stickers": []any{}, "features": []any{},
	}
}

func (e *Emulator) getRoles(*call) any { return e.rolesJSON() }

func (e *Emulator) getUser(c *call) any {
	if c.PathValue("user") == BotUser {
		return botJSON()
	}
	m, known := e.ByID(c.PathValue("user"))
	if !known {
		return unknownUser
	}
	return userJSON(m)
}

func (e *Emulator) getMember(c *call) any {
	if c.PathValue("user") == BotUser {
		return memberJSON(botJSON(), []string{})
	}
	m, known := e.ByID(c.PathValue("user"))
	if !known {
		return unknownMember
	}
	return memberJSON(userJSON(m), e.GroupsOf(m))
}

func memberJSON(user raw.Object, roles []string) raw.Object {
	return raw.Object{
		"user": user, "roles": roles, "joined_at": "2026-01-01T00:00:00.000000+00:00",
		"deaf": false, "mute": false, "flags": 0,
	}
}

func (e *Emulator) createDM(c *call) any {
	m, known := e.ByID(raw.Str(c.args, "recipient_id"))
	if !known {
		return cannotSend
	}
	return e.direct(m).json()
}

func (e *Emulator) getChannel(c *call) any { return c.channel.json() }

// roles returns the roles of the guild other than @everyone: Role, and every
// role with members. The caller holds the lock.
func (e *Emulator) roles() []raw.Object {
	ids := map[string]bool{Role: true}
	for _, m := range e.Members {
		for _, id := range e.GroupsOf(m) {
			ids[id] = true
		}
	}
	var out []raw.Object
	for n, id := range slices.Sorted(maps.Keys(ids)) {
		name := "on-call"
		if id != Role {
			name = "role " + id
		}
		out = append(out, roleJSON(id, name, "0", n+1, 0x2ecc71, true))
	}
	return out
}

// rolesJSON returns the roles of the guild in the form of the API. The caller
// holds the lock.
func (e *Emulator) rolesJSON() []any {
	out := []any{roleJSON(Guild, "@everyone", strconv.FormatInt(e.permissions(), 10), 0, 0, false)}
	for _, r := range e.roles() {
		out = append(out, r)
	}
	return out
}

func roleJSON(id, name, permissions string, position, color int, mentionable bool) raw.Object {
	return raw.Object{
		"id": id, "name": name, "permissions": permissions, "position": position, "color": color,
		"colors": raw.Object{"primary_color": color, "secondary_color": nil, "tertiary_color": nil},
		"hoist":  false, "icon": nil, "unicode_emoji": nil, "managed": false, "mentionable": mentionable, "flags": 0,
	}
}

// textChannels returns the channels of the guild. The caller holds the lock.
func (e *Emulator) textChannels() []any {
	var found []*channel
	for _, ch := range e.channels {
		if ch.Kind == textChannel || ch.Kind == newsChannel {
			found = append(found, ch)
		}
	}
	slices.SortFunc(found, func(a, b *channel) int { return strings.Compare(a.ID, b.ID) })
	out := []any{}
	for _, ch := range found {
		out = append(out, ch.json())
	}
	return out
}

func userJSON(m core.Account) raw.Object {
	return raw.Object{"id": m.ID, "username": m.Key, "global_name": m.Name, "discriminator": "0", "avatar": nil, "bot": false}
}

// bits are the permissions of the bot by name. The fault missing_permission
// uses these names.
var bits = map[string]int64{
	"VIEW_CHANNEL": 1 << 10, "SEND_MESSAGES": 1 << 11, "EMBED_LINKS": 1 << 14, "ATTACH_FILES": 1 << 15,
	"READ_MESSAGE_HISTORY": 1 << 16, "CREATE_PUBLIC_THREADS": 1 << 35, "SEND_MESSAGES_IN_THREADS": 1 << 38,
}

// permissions returns the permissions of the bot in every channel of the guild.
// The caller holds the lock.
func (e *Emulator) permissions() int64 {
	var all int64
	for _, bit := range bits {
		all |= bit
	}
	if len(e.Named("no_permission")) > 0 {
		all &= bits["VIEW_CHANNEL"]
	}
	for _, name := range e.Named("missing_permission") {
		all &^= bits[name]
	}
	return all
}

// may reports whether the bot has a permission in a channel. Direct messages
// need no permissions.
func (e *Emulator) may(ch *channel, name string) bool {
	return ch.Kind == directChannel || e.permissions()&bits[name] != 0
}

// mayPost returns an error if the bot may not post in a channel.
func (e *Emulator) mayPost(c *call) *failure {
	ch, send := c.channel, "SEND_MESSAGES"
	if ch.isThread() {
		send = "SEND_MESSAGES_IN_THREADS"
	}
	switch {
	case ch.Kind == directChannel && len(e.Named("no_direct")) > 0:
		return cannotSend
	case !e.may(ch, send):
		return notAllowed
	case raw.Sub(c.args, "message_reference") != nil && !e.may(ch, "READ_MESSAGE_HISTORY"):
		return invalid("message_reference", "REPLIES_REQUIRE_MESSAGE_HISTORY",
			"Cannot reply without permission to read message history")
	case ch.locked:
		return threadLocked
	}
	return nil
}
