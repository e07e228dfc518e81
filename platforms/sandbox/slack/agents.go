package slack

import (
	"maps"
	"net/http"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// agentsAPI has the methods agents.sessions.*.
type agentsAPI struct{ *workspace }

// session is the session of an agent in a thread.
type session = SessionState

// SessionState is a session of an agent. While its status is processing,
// members see a button that stops it.
type SessionState struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread_ts"`
	Status  string `json:"status"`
	Title   string `json:"title,omitempty"`
}

// sessionStates returns copies of the sessions. The caller holds the lock.
func (w *workspace) sessionStates() []SessionState {
	out := []SessionState{}
	for _, id := range slices.Sorted(maps.Keys(w.sessions)) {
		out = append(out, *w.sessions[id])
	}
	return out
}

// place returns the session of a call and its key. The session is nil if it
// does not exist yet.
func (api agentsAPI) place(a raw.Object) (key string, s *session, bad raw.Object) {
	c, thread := api.Chats[raw.Str(a, "channel_id")], raw.Str(a, "thread_ts")
	switch {
	case thread == "":
		return "", nil, missing("thread_ts")
	case c.Message(thread) == nil:
		return "", nil, failure("thread_not_found")
	}
	key = c.ID + " " + thread
	return key, api.sessions[key], nil
}

func (api agentsAPI) setStatus(_ *http.Request, a raw.Object) raw.Object {
	status, title := raw.Str(a, "status"), raw.Str(a, "title")
	if !slices.Contains([]string{"active", "processing", "suspended", "closed"}, status) || units(title) > maxSessionTitle {
		return invalidArguments("[ERROR] invalid status or title [json-pointer:/status]")
	}
	key, s, bad := api.place(a)
	if bad != nil {
		return bad
	}
	if _, known := api.ByID(raw.Str(a, "initiator_user_id")); a["initiator_user_id"] != nil && !known {
		return failure("user_not_found")
	}
	if s == nil {
		s = &session{Channel: raw.Str(a, "channel_id"), Thread: raw.Str(a, "thread_ts"), Title: title}
		api.sessions[key] = s
	}
	s.Status = status
	api.Touch()
	return raw.Object{"status": s.Status, "agent_status": s.Status, "title": s.Title}
}

func (api agentsAPI) rename(_ *http.Request, a raw.Object) raw.Object {
	title := raw.Str(a, "title")
	if title == "" || units(title) > maxSessionTitle {
		return invalidArguments("[ERROR] must be 1 to 200 characters [json-pointer:/title]")
	}
	_, s, bad := api.place(a)
	switch {
	case bad != nil:
		return bad
	case s == nil:
		return failure("not_authorized")
	}
	s.Title = title
	api.Touch()
	return raw.Object{"title": s.Title}
}
