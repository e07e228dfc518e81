package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

type withdrawal struct {
	Reason string `json:"reason,omitempty"`
}

func (s requests) cancel(w http.ResponseWriter, r *http.Request, p Principal) error {
	var c withdrawal
	if err := readOptional(r, &c); err != nil {
		return err
	}
	rec, err := s.load(r, p)
	if err != nil {
		return err
	}
	caller := r.Header.Get(callerHeader)
	switch {
	case p.Agent == nil:
		rec, err = s.engine.Withdraw(r.Context(), rec.Interaction.ID, p.actor(), c.Reason)
	case caller != "":
		rec, err = s.engine.Leave(r.Context(), rec.Interaction.ID, bridge.CallerName(caller), c.Reason)
	default:
		rec, err = s.engine.Cancel(r.Context(), rec.Interaction.ID, c.Reason)
	}
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, forReader(p, rec))
}

func (s requests) cancelSession(w http.ResponseWriter, r *http.Request, p Principal) error {
	var c withdrawal
	if err := readOptional(r, &c); err != nil {
		return err
	}
	session := r.PathValue("id")
	if err := s.engine.Grants.End(r.Context(), p.Agent.Name, session); err != nil {
		return err
	}
	out := bridge.List{Items: []bridge.Record{}}
	f := bridge.ListFilter{State: bridge.StatePending, Session: session, Agent: p.Agent.Name}
	for {
		page, err := s.reader.List(r.Context(), f)
		if err != nil {
			return err
		}
		for _, rec := range page.Items {
			if rec, err = s.engine.Cancel(r.Context(), rec.Interaction.ID, c.Reason); err != nil {
				return err
			}
			out.Items = append(out.Items, rec)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return write(w, http.StatusOK, out)
		}
	}
}

func (s requests) complete(w http.ResponseWriter, r *http.Request, p Principal) error {
	var c bridge.Completion
	if err := readOptional(r, &c); err != nil {
		return err
	}
	rec, err := s.load(r, p)
	if err == nil {
		rec, err = s.engine.Complete(r.Context(), rec.Interaction.ID, c)
	}
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, rec)
}

func (s requests) reprompt(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	rec, err := s.followUp(r, p)
	if spent, ok := errors.AsType[*bridge.RepeatedError](err); ok {
		return write(w, http.StatusOK, repeated{true, spent.Interaction})
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/interactions/"+string(rec.Interaction.ID))
	return s.deliver(w, r, created(rec), rec, p, wait)
}

// followUp opens the follow-up in a body.
func (s requests) followUp(r *http.Request, p Principal) (*bridge.Record, error) {
	req, err := requestOf(r)
	if err != nil {
		return nil, err
	}
	rec, err := s.load(r, p)
	if err == nil {
		rec, err = s.engine.Reprompt(r.Context(), *p.Agent, rec.Interaction.ID, req, req.CallID.Key)
	}
	return &rec, err
}

// holding is the body of a call that defers a request.
type holding struct {
	Hold    bridge.Duration `json:"hold,omitempty"`
	Message string          `json:"message,omitempty"`
}

func (s requests) pending(w http.ResponseWriter, r *http.Request, p Principal) error {
	var h holding
	if err := readOptional(r, &h); err != nil {
		return err
	}
	rec, err := s.load(r, p)
	if err == nil {
		rec, err = s.engine.Queue(r.Context(), *p.Agent, rec.Interaction.ID, h.Hold, h.Message)
	}
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, rec)
}

// messagePoll is the time between checks for the messages of a session.
const messagePoll = 250 * time.Millisecond

// inbox is the body of a session's messages.
type inbox struct {
	Items []bridge.Message `json:"items"`
}

// messages returns the messages of a session as soon as there are any or the
// wait is over. Messages are repeated until they are acknowledged. A named
// reader gets only messages from people, which no other reader gets for a short
// time.
func (s sessions) messages(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	requestRead(w)
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return s.streamMessages(w, r, p)
	}
	read, err := s.inboxOf(r, p)
	if err != nil {
		return err
	}
	until := time.Now().Add(wait)
	for {
		items, err := read(r.Context())
		if err != nil {
			return err
		}
		if len(items) > 0 || !time.Now().Before(until) || s.closing.Err() != nil {
			return write(w, http.StatusOK, inbox{items})
		}
		if !bridge.Pause(r.Context(), messagePoll) {
			return nil // the caller has disconnected
		}
	}
}

// streamMessages sends the messages of a session as server-sent events, and
// sends each once in this stream. The next stream repeats messages that are not
// acknowledged.
func (s sessions) streamMessages(w http.ResponseWriter, r *http.Request, p Principal) error {
	items, err := s.engine.Sessions.Messages(r.Context(), p.Agent.Name, r.PathValue("id"))
	if err != nil {
		return err
	}
	startStream(w)
	sent, last := map[string]bool{}, time.Time{}
	for {
		if time.Since(last) > keepAlive {
			if last = time.Now(); !comment(w) {
				return nil
			}
		}
		for _, m := range items {
			if sent[m.ID] {
				continue
			}
			sent[m.ID] = true
			raw, err := bridge.EncodeJSON(m)
			if err != nil {
				return nil
			}
			if _, err := fmt.Fprintf(w, "id: %s\nevent: user_message\ndata: %s\n\n", m.ID, raw); err != nil {
				return nil
			}
		}
		if http.NewResponseController(w).Flush() != nil || !s.pauseEvents(r.Context()) {
			return nil
		}
		if items, err = s.engine.Sessions.Messages(r.Context(), p.Agent.Name, r.PathValue("id")); err != nil && r.Context().Err() == nil {
			s.log.Warn("messages cannot be read; retrying", "error", err)
		}
	}
}

// acknowledgment is the body of an acknowledgment.
type acknowledgment struct {
	Through string `json:"through"` // ID of the last message that is acknowledged
}

func (s sessions) acknowledge(w http.ResponseWriter, r *http.Request, p Principal) error {
	var a acknowledgment
	if err := read(r, &a); err != nil {
		return err
	}
	if err := s.engine.Sessions.Acknowledge(r.Context(), p.Agent.Name, r.PathValue("id"), a.Through); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s sessions) availability(w http.ResponseWriter, r *http.Request, p Principal) error {
	q := r.URL.Query()
	a, err := s.engine.Availability(r.Context(), *p.Agent, q.Get("route"), q.Get("session"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, a)
}

// remembered is an approval that a tool remembers.
type remembered struct {
	Key     string       `json:"key"`
	Session string       `json:"session,omitempty"`
	Scope   bridge.Scope `json:"scope,omitempty"` // if empty, no scope is remembered
}

func (s sessions) recall(w http.ResponseWriter, r *http.Request, p Principal) error {
	var m remembered
	err := read(r, &m)
	if err != nil {
		return err
	}
	if m.Scope, err = s.engine.Grants.Recall(r.Context(), p.Agent.Name, m.Key, m.Session); err != nil {
		return err
	}
	return write(w, http.StatusOK, m)
}

func (s sessions) remember(w http.ResponseWriter, r *http.Request, p Principal) error {
	var m remembered
	if err := read(r, &m); err != nil {
		return err
	}
	if err := s.engine.Grants.Remember(r.Context(), p.Agent.Name, m.Key, m.Scope, m.Session); err != nil {
		return err
	}
	return write(w, http.StatusOK, m)
}

func (s sessions) forget(w http.ResponseWriter, r *http.Request, p Principal) error {
	if err := s.engine.Grants.End(r.Context(), p.Agent.Name, r.URL.Query().Get("session")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
