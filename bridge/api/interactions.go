package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

func (s requests) get(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	if wait > 0 && p.Agent != nil {
		id := bridge.ID(r.PathValue("id"))
		if o, known := s.owners.of(id); known && o.agent == p.Agent.Name {
			return s.deliver(w, r, http.StatusOK, o.unread(id), p, wait)
		}
	}
	rec, err := s.load(r, p)
	if err != nil {
		return err
	}
	return s.deliver(w, r, http.StatusOK, &rec, p, wait)
}

func (s requests) list(w http.ResponseWriter, r *http.Request, p Principal) error {
	q := r.URL.Query()
	f := bridge.ListFilter{State: bridge.State(q.Get("state")), Session: q.Get("session"), Text: q.Get("text"), Cursor: q.Get("cursor")}
	states := []bridge.State{"", bridge.StatePending, bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied, bridge.StateExpired, bridge.StateCancelled, bridge.StateSuperseded, bridge.StateUndeliverable}
	if !slices.Contains(states, f.State) {
		return bridge.Errorf(bridge.CodeInvalid, "state: unknown state %q", f.State)
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 200 {
			return bridge.Errorf(bridge.CodeInvalid, "limit: %q is out of range (1 to 200)", v)
		}
		f.Limit = n
	}
	f.AsStored = p.Agent == nil
	if p.Agent != nil {
		f.Agent = p.Agent.Name
	}
	page, err := s.listReadable(r.Context(), p, f)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, page)
}

func (s requests) respond(w http.ResponseWriter, r *http.Request, p Principal) error {
	var a bridge.Reply
	if err := read(r, &a); err != nil {
		return err
	}
	id, err := bridge.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	rec, err := s.engine.Answer(r.Context(), id, p.actor(), a)
	if err != nil {
		if _, hidden := s.load(r, p); hidden != nil {
			return hidden // a caller that may not read a request gets no details about the answer
		}
		return err
	}
	return write(w, http.StatusOK, bridge.Recorded{ID: rec.Interaction.ID, State: rec.State, Revision: rec.Revision})
}
