package slack

import (
	"net/http"
	"slices"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// reactionsAPI has the methods reactions.*.
type reactionsAPI struct{ *workspace }

var emojiName = lazyregexp.New(`^[a-z0-9_+'-]+(::skin-tone-[2-6])?$`)

// target returns the message of a call, or the error of the API.
func (api reactionsAPI) target(a raw.Object) (m, bad raw.Object) {
	c := api.channels[raw.Str(a, "channel")]
	if c == nil {
		return nil, failure("channel_not_found")
	}
	if raw.Str(a, "timestamp") == "" {
		return nil, failure("no_item_specified")
	}
	if m = c.Message(raw.Str(a, "timestamp")); m == nil {
		return nil, failure("message_not_found")
	}
	return m, nil
}

func (api reactionsAPI) add(_ *http.Request, a raw.Object) raw.Object {
	m, bad := api.target(a)
	switch {
	case bad != nil:
		return bad
	case !emojiName.MatchString(raw.Str(a, "name")):
		return failure("invalid_name")
	case len(raw.List(m, "reactions")) >= maxReactions:
		return failure("too_many_emoji")
	case !addReaction(m, raw.Str(a, "name"), BotUser):
		return failure("already_reacted")
	}
	api.Touch()
	return raw.Object{}
}

func (api reactionsAPI) remove(_ *http.Request, a raw.Object) raw.Object {
	m, bad := api.target(a)
	if bad != nil {
		return bad
	}
	if !removeReaction(m, raw.Str(a, "name"), BotUser) {
		return failure("no_reaction")
	}
	api.Touch()
	return raw.Object{}
}

func (api reactionsAPI) get(_ *http.Request, a raw.Object) raw.Object {
	m, bad := api.target(a)
	if bad != nil {
		return bad
	}
	return raw.Object{"type": "message", "channel": a["channel"], "message": raw.Copy(m)}
}

// addReaction adds a reaction of a user. It reports false if it
// exists.
func addReaction(m raw.Object, name, user string) bool {
	all := raw.List(m, "reactions")
	n := slices.IndexFunc(raw.All(all), func(r raw.Object) bool { return raw.Str(r, "name") == name })
	if n < 0 {
		m["reactions"] = append(slices.Clone(all), raw.Object{"name": name, "users": []any{user}, "count": 1})
		return true
	}
	r := raw.All(all)[n]
	users := raw.List(r, "users")
	if slices.Contains(users, any(user)) {
		return false
	}
	r["users"], r["count"] = append(slices.Clone(users), user), len(users)+1
	return true
}

// removeReaction removes a reaction of a user. It reports false if it
// does not exist.
func removeReaction(m raw.Object, name, user string) bool {
	var left []any
	found := false
	for _, r := range raw.Objects(m, "reactions") {
		users := raw.List(r, "users")
		if n := slices.Index(users, any(user)); raw.Str(r, "name") == name && n >= 0 {
			found = true
			users = slices.Delete(slices.Clone(users), n, n+1)
			r["users"], r["count"] = users, len(users)
		}
		if len(users) > 0 {
			left = append(left, r)
		}
	}
	m["reactions"] = left
	if len(left) == 0 {
		delete(m, "reactions")
	}
	return found
}
