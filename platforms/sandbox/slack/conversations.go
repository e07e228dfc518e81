package slack

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// conversationsAPI has the methods conversations.*.
type conversationsAPI struct{ *workspace }

func conversationJSON(c *core.Chat) raw.Object {
	im := c.User != ""
	out := raw.Object{
		"id": c.ID, "name": c.Name, "name_normalized": c.Name, "is_member": true, "is_im": im, "is_channel": !im,
		"is_group": false, "is_mpim": false, "is_private": im || c.Closed, "is_archived": false, "is_general": false,
		"created": 1700000000, "creator": "USLACKBOT", "context_team_id": team,
		"topic": raw.Object{"value": ""}, "purpose": raw.Object{"value": ""},
	}
	if im {
		out["user"] = c.User
	}
	return out
}

func (api conversationsAPI) info(_ *http.Request, a raw.Object) raw.Object {
	return raw.Object{"channel": conversationJSON(api.Chats[raw.Str(a, "channel")])}
}

func (api conversationsAPI) open(_ *http.Request, a raw.Object) raw.Object {
	if id := raw.Str(a, "channel"); api.Chats[id] != nil {
		return api.info(nil, a)
	} else if id != "" {
		return failure("channel_not_found")
	}
	user, _, _ := strings.Cut(raw.Str(a, "users"), ",")
	if _, known := api.ByID(user); !known {
		return failure("user_not_found")
	}
	c := api.direct(user)
	if yes(a, "return_im") {
		return raw.Object{"channel": conversationJSON(c)}
	}
	return raw.Object{"channel": raw.Object{"id": c.ID}}
}

// list lists the conversations of the requested types.
func (api conversationsAPI) list(_ *http.Request, a raw.Object) raw.Object {
	types := raw.Str(a, "types")
	if types == "" {
		types = "public_channel"
	}
	var out []any
	for _, id := range slices.Sorted(maps.Keys(api.Chats)) {
		kind := "public_channel"
		if api.Chats[id].User != "" {
			kind = "im"
		}
		if slices.Contains(strings.Split(types, ","), kind) {
			out = append(out, conversationJSON(api.Chats[id]))
		}
	}
	return paged(a, "channels", out, maxHistory)
}

func (api conversationsAPI) members(_ *http.Request, a raw.Object) raw.Object {
	c := api.Chats[raw.Str(a, "channel")]
	var out []any
	for _, m := range api.Members {
		if (c.User == "" || c.User == m.ID) && !slices.Contains(api.Named("not_member"), m.ID) {
			out = append(out, m.ID)
		}
	}
	return paged(a, "members", append(out, BotUser), maxHistory)
}

// history returns the messages of a channel, newest first, without the replies
// in threads.
func (api conversationsAPI) history(_ *http.Request, a raw.Object) raw.Object {
	c := api.Chats[raw.Str(a, "channel")]
	var out []any
	for _, m := range slices.Backward(c.Messages) {
		if shownInChannel(m) && within(a, raw.Str(m, "ts")) {
			out = append(out, listed(c, m, a))
		}
	}
	return paged(a, "messages", out, maxHistory)
}

// shownInChannel reports whether the channel shows a message, rather than only
// a thread.
func shownInChannel(m raw.Object) bool {
	return raw.Str(m, "thread_ts") == "" || raw.Str(m, "subtype") == "thread_broadcast"
}

// within reports whether a timestamp is in the requested range.
func within(a raw.Object, ts string) bool {
	inclusive := yes(a, "inclusive")
	oldest, latest := raw.Text(a["oldest"]), raw.Text(a["latest"])
	if inclusive && (ts == oldest || ts == latest) {
		return true
	}
	at, _ := strconv.ParseFloat(ts, 64)
	from, _ := strconv.ParseFloat(oldest, 64)
	to, _ := strconv.ParseFloat(latest, 64)
	return at > from && (to == 0 || at < to)
}

// listed returns a message in the format of lists. The root of a thread has a
// summary of the thread. The message has metadata only if the call requests it.
func listed(c *core.Chat, m, a raw.Object) raw.Object {
	out := raw.Copy(m)
	if !yes(a, "include_all_metadata") {
		delete(out, "metadata")
	}
	ts, users, last, n := raw.Str(m, "ts"), []any{}, "", 0
	for _, r := range c.Messages {
		if raw.Str(r, "thread_ts") != ts {
			continue
		}
		if n++; !slices.Contains(users, r["user"]) {
			users = append(users, r["user"])
		}
		last = raw.Str(r, "ts")
	}
	if n > 0 {
		out["thread_ts"], out["reply_count"], out["latest_reply"] = ts, n, last
		out["reply_users"], out["reply_users_count"] = users, len(users)
	}
	return out
}

// paged returns a page of a list: at most limit items after the cursor.
func paged(a raw.Object, name string, all []any, limit int) raw.Object {
	if n, err := strconv.Atoi(raw.Text(a["limit"])); err == nil && n > 0 {
		limit = min(n, maxPage)
	}
	from, _ := strconv.Atoi(raw.Str(a, "cursor"))
	if from < 0 || from > len(all) {
		return failure("invalid_cursor")
	}
	to, next := min(from+limit, len(all)), ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return raw.Object{
		name: append([]any{}, all[from:to]...), "has_more": next != "", "response_metadata": raw.Object{"next_cursor": next},
	}
}
