package slack

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

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

func (e *Emulator) conversationInfo(a raw.Object) raw.Object {
	return raw.Object{"channel": conversationJSON(e.Chats[raw.Str(a, "channel")])}
}

func (e *Emulator) conversationOpen(a raw.Object) raw.Object {
	user, _, _ := strings.Cut(raw.Str(a, "users"), ",")
	if _, known := e.ByID(user); !known {
		return failure("user_not_found")
	}
	return raw.Object{"channel": raw.Object{"id": e.direct(user).ID}}
}

// list lists the conversations of the requested types.
func (e *Emulator) conversationList(a raw.Object) raw.Object {
	types := raw.Str(a, "types")
	if types == "" {
		types = "public_channel"
	}
	var out []any
	for _, id := range slices.Sorted(maps.Keys(e.Chats)) {
		kind := "public_channel"
		if e.Chats[id].User != "" {
			kind = "im"
		}
		if slices.Contains(strings.Split(types, ","), kind) {
			out = append(out, conversationJSON(e.Chats[id]))
		}
	}
	return paged(a, "channels", out, maxHistory)
}

func (e *Emulator) members(a raw.Object) raw.Object {
	c := e.Chats[raw.Str(a, "channel")]
	var out []any
	for _, m := range e.Members {
		if (c.User == "" || c.User == m.ID) && !slices.Contains(e.Named("not_member"), m.ID) {
			out = append(out, m.ID)
		}
	}
	return paged(a, "members", append(out, BotUser), maxHistory)
}

// history returns the messages of a channel, newest first, without the replies
// in threads.
func (e *Emulator) history(a raw.Object) raw.Object {
	c := e.Chats[raw.Str(a, "channel")]
	var out []any
	for _, m := range slices.Backward(c.Messages) {
		if shownInChannel(m) && within(a, raw.Str(m, "ts")) {
			m = raw.Copy(m)
			if !yes(a, "include_all_metadata") {
				delete(m, "metadata")
			}
			out = append(out, m)
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
	at, _ := strconv.ParseFloat(ts, 64)
	from, _ := strconv.ParseFloat(raw.Text(a["oldest"]), 64)
	return at > from
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

// SessionState is a session of an agent. While its status is processing,
// members see a button that stops it.
type SessionState struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread_ts"`
	Status  string `json:"status"`
	Title   string `json:"title,omitempty"`
}

// place returns the session of a call and its key. The session is nil if it
// does not exist yet.
func (e *Emulator) place(a raw.Object) (key string, s *SessionState, bad raw.Object) {
	c, thread := e.Chats[raw.Str(a, "channel_id")], raw.Str(a, "thread_ts")
	if c.Message(thread) == nil {
		return "", nil, failure("thread_not_found")
	}
	key = c.ID + " " + thread
	return key, e.sessions[key], nil
}

func (e *Emulator) setStatus(a raw.Object) raw.Object {
	status, title := raw.Str(a, "status"), raw.Str(a, "title")
	if !slices.Contains([]string{"active", "processing", "suspended", "closed"}, status) || units(title) > maxSessionTitle {
		return invalidArguments("[ERROR] invalid status or title [json-pointer:/status]")
	}
	key, s, bad := e.place(a)
	if bad != nil {
		return bad
	}
	if _, known := e.ByID(raw.Str(a, "initiator_user_id")); a["initiator_user_id"] != nil && !known {
		return failure("user_not_found")
	}
	if s == nil {
		s = &SessionState{Channel: raw.Str(a, "channel_id"), Thread: raw.Str(a, "thread_ts"), Title: title}
		e.sessions[key] = s
	}
	s.Status = status
	e.Touch()
	return raw.Object{"status": s.Status, "agent_status": s.Status, "title": s.Title}
}

func (e *Emulator) rename(a raw.Object) raw.Object {
	title := raw.Str(a, "title")
	if title == "" || units(title) > maxSessionTitle {
		return invalidArguments("[ERROR] must be 1 to 200 characters [json-pointer:/title]")
	}
	_, s, bad := e.place(a)
	switch {
	case bad != nil:
		return bad
	case s == nil:
		return failure("not_authorized")
	}
	s.Title = title
	e.Touch()
	return raw.Object{"title": s.Title}
}
