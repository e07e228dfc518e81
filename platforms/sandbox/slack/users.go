package slack

import (
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func (e *Emulator) authTest(raw.Object) raw.Object {
	return raw.Object{
		"url": e.address + "/", "team": "Sandbox", "team_id": team,
		"user": "nod", "user_id": BotUser, "bot_id": bot, "app_id": app, "is_enterprise_install": false,
	}
}

// test implements the method e.test, which returns its arguments.
func (e *Emulator) apiTest(a raw.Object) raw.Object {
	if code := raw.Str(a, "error"); code != "" {
		return raw.Object{"error": code, "args": a}
	}
	return raw.Object{"args": a}
}

// is reports whether a fault of a kind names an account. The caller holds the
// lock.
func (e *Emulator) is(kind string, m core.Account) bool { return slices.Contains(e.Named(kind), m.ID) }

// teamOf returns the workspace of an account. The caller holds the lock.
func (e *Emulator) teamOf(m core.Account) string {
	if e.is("foreign", m) {
		return partner
	}
	return team
}

func (e *Emulator) accountJSON(m core.Account) raw.Object {
	return raw.Object{
		"id": m.ID, "name": m.Key, "real_name": m.Name, "team_id": e.teamOf(m), "is_email_confirmed": !e.is("unconfirmed", m),
		"deleted": false, "is_restricted": e.is("guest", m), "is_ultra_restricted": false, "is_stranger": false,
		"is_bot": e.is("robot", m), "tz": "Etc/UTC", "tz_label": "Coordinated Universal Time", "tz_offset": 0,
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

func (e *Emulator) userInfo(a raw.Object) raw.Object {
	if raw.Str(a, "user") == BotUser {
		return raw.Object{"user": botJSON()}
	}
	m, known := e.ByID(raw.Str(a, "user"))
	if !known {
		return failure("user_not_found")
	}
	return raw.Object{"user": e.accountJSON(m)}
}

func (e *Emulator) userList(a raw.Object) raw.Object {
	var out []any
	for _, m := range e.Members {
		out = append(out, e.accountJSON(m))
	}
	return paged(a, "members", append(out, botJSON()), maxPage)
}

func (e *Emulator) botsInfo(a raw.Object) raw.Object {
	if id := raw.Str(a, "bot"); id != "" && id != bot {
		return failure("bot_not_found")
	}
	return raw.Object{"bot": raw.Object{"id": bot, "name": "nod", "app_id": app, "user_id": BotUser, "deleted": false}}
}

func (e *Emulator) groupUsers(a raw.Object) raw.Object {
	id := raw.Str(a, "usergroup")
	members, known := e.InGroup(id)
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
