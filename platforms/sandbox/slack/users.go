package slack

import (
	"net/http"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// usersAPI has the methods users.*, usergroups.* and auth.*.
type usersAPI struct{ *workspace }

func (api usersAPI) authTest(r *http.Request, _ raw.Object) raw.Object {
	return raw.Object{
		"url": "http://" + r.Host + "/", "team": "Sandbox", "team_id": team,
		"user": "nod", "user_id": BotUser, "bot_id": bot, "app_id": app,
	}
}

func (api usersAPI) info(_ *http.Request, a raw.Object) raw.Object {
	m, known := api.ByID(raw.Str(a, "user"))
	if !known {
		return failure("user_not_found")
	}
	return raw.Object{"user": raw.Object{
		"id": m.ID, "name": m.Key, "real_name": m.Name, "team_id": team, "is_email_confirmed": true,
		"profile": raw.Object{"real_name": m.Name, "email": m.Key + "@example.com"},
	}}
}

func (api usersAPI) group(_ *http.Request, a raw.Object) raw.Object {
	id := raw.Str(a, "usergroup")
	members, known := api.InGroup(id)
	if !known && id != UserGroup {
		return failure("no_such_subteam")
	}
	users := []string{}
	for _, m := range members {
		users = append(users, m.ID)
	}
	return raw.Object{"users": users}
}
