package slack

import (
	"maps"
	"net/http"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// usersAPI has the methods users.*, usergroups.*, bots.*, api.* and auth.*.
type usersAPI struct{ *workspace }

func (api usersAPI) authTest(*http.Request, raw.Object) raw.Object {
	return raw.Object{
		"url": api.base() + "/", "team": "Sandbox", "team_id": team,
		"user": "nod", "user_id": BotUser, "bot_id": bot, "app_id": app, "is_enterprise_install": false,
	}
}

// test implements the method api.test, which returns its arguments.
func (api usersAPI) test(_ *http.Request, a raw.Object) raw.Object {
	if code := raw.Str(a, "error"); code != "" {
		return raw.Object{"error": code, "args": a}
	}
	return raw.Object{"args": a}
}

// is reports whether a fault of a kind names an account. The caller holds the
// lock.
func (w *workspace) is(kind string, m core.Account) bool { return slices.Contains(w.Named(kind), m.ID) }

// teamOf returns the workspace of an account. The caller holds the lock.
func (w *workspace) teamOf(m core.Account) string {
	if w.is("foreign", m) {
		return partner
	}
	return team
}

func (w *workspace) accountJSON(m core.Account) raw.Object {
	return raw.Object{
		"id": m.ID, "name": m.Key, "real_name": m.Name, "team_id": w.teamOf(m), "is_email_confirmed": !w.is("unconfirmed", m),
		"deleted": false, "is_restricted": w.is("guest", m), "is_ultra_restricted": false, "is_stranger": false,
		"is_bot": w.is("robot", m), "tz": "Etc/UTC", "tz_label": "Coordinated Universal Time", "tz_offset": 0,
		"profile": raw.Object{"real_name": m.Name, "display_name": m.Key, "email": email(m)},
	}
}

func botJSON() raw.Object {
	return raw.Object{
		"id": BotUser, "name": "nod", "real_name": "nod", "team_id": team, "deleted": false, "is_bot": true,
		"profile": raw.Object{"real_name": "nod", "display_name": "", "bot_id": bot, "api_app_id": app},
	}
}

func email(m core.Account) string { return m.Key + "@example.com" }

func (api usersAPI) info(_ *http.Request, a raw.Object) raw.Object {
	if raw.Str(a, "user") == BotUser {
		return raw.Object{"user": botJSON()}
	}
	m, known := api.ByID(raw.Str(a, "user"))
	if !known {
		return failure("user_not_found")
	}
	return raw.Object{"user": api.accountJSON(m)}
}

func (api usersAPI) list(_ *http.Request, a raw.Object) raw.Object {
	var out []any
	for _, m := range api.Members {
		out = append(out, api.accountJSON(m))
	}
	return paged(a, "members", append(out, botJSON()), maxPage)
}

func (api usersAPI) bot(_ *http.Request, a raw.Object) raw.Object {
	if id := raw.Str(a, "bot"); id != "" && id != bot {
		return failure("bot_not_found")
	}
	return raw.Object{"bot": raw.Object{"id": bot, "name": "nod", "app_id": app, "user_id": BotUser, "deleted": false}}
}

func (api usersAPI) group(_ *http.Request, a raw.Object) raw.Object {
	id := raw.Str(a, "usergroup")
	members, known := api.InGroup(id)
	if !known && id != UserGroup {
		return failure("no_such_subteam")
	}
	return raw.Object{"users": ids(members)}
}

func ids(members []core.Account) []string {
	out := []string{}
	for _, m := range members {
		out = append(out, m.ID)
	}
	return out
}

// userGroups returns the user groups of the workspace. The caller holds the
// lock.
func (w *workspace) userGroups() []Group {
	known := map[string]bool{UserGroup: true}
	for _, m := range w.Members {
		for _, id := range w.GroupsOf(m) {
			known[id] = true
		}
	}
	var out []Group
	for _, id := range slices.Sorted(maps.Keys(known)) {
		name := id
		if id == UserGroup {
			name = "sre"
		}
		members, _ := w.InGroup(id)
		out = append(out, Group{id, name, ids(members)})
	}
	return out
}
