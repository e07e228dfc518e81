package discord

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// roles returns the roles of the guild other than @everyone: Role, and every
// role with members. The caller holds the lock.
func (g *guild) roles() []raw.Object {
	ids := map[string]bool{Role: true}
	for _, m := range g.Members {
		for _, id := range g.GroupsOf(m) {
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
func (g *guild) rolesJSON() []any {
	out := []any{roleJSON(Guild, "@everyone", strconv.FormatInt(g.permissions(), 10), 0, 0, false)}
	for _, r := range g.roles() {
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
func (g *guild) textChannels() []any {
	var found []*channel
	for _, ch := range g.channels {
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
