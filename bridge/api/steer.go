package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// The time for which messages are reserved for a reader.
const (
	defaultLease = 15 * time.Second
	maxLease     = 5 * time.Minute
)

// instruction is the body of a call that sends a message to a session.
type instruction struct {
	Text  string `json:"text"`
	Agent string `json:"agent,omitempty"` // agent of the session; empty means the only agent with such a session
}

func (s sessions) steer(w http.ResponseWriter, r *http.Request, p Principal) error {
	var in instruction
	if err := read(r, &in); err != nil {
		return err
	}
	sent, err := s.engine.Sessions.Steer(r.Context(), bridge.Steering{
		Agent: in.Agent, Session: r.PathValue("id"), By: p.actor(), Text: in.Text,
	})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/sessions/"+r.PathValue("id")+"/messages/"+sent.ID)
	return write(w, http.StatusCreated, sent)
}

func (s sessions) steering(w http.ResponseWriter, r *http.Request, p Principal) error {
	sent, err := s.engine.Sessions.Sent(r.Context(), p.actor(), r.PathValue("id"), r.PathValue("message"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, sent)
}

// inboxOf returns the function that reads the messages that a call asks for.
func (s sessions) inboxOf(r *http.Request, p Principal) (func(context.Context) ([]bridge.Message, error), error) {
	q, session := r.URL.Query(), r.PathValue("id")
	reader, peek := q.Get("reader"), false
	if v := q.Get("peek"); v != "" {
		var err error
		if peek, err = strconv.ParseBool(v); err != nil || peek && reader != "" {
			return nil, bridge.Errorf(bridge.CodeInvalid, "peek: invalid value %q (true without a reader, or false)", v)
		}
	}
	if reader == "" && !peek {
		return func(ctx context.Context) ([]bridge.Message, error) {
			return s.engine.Sessions.Messages(ctx, p.Agent.Name, session)
		}, nil
	}
	if err := bridge.CheckText("reader", reader, 100); err != nil {
		return nil, err
	}
	// A peek has no reader, so it takes no lease.
	t := bridge.Taking{Agent: p.Agent.Name, Session: session, Reader: reader, Lease: defaultLease}
	if v := q.Get("lease"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 || d > maxLease {
			return nil, bridge.Errorf(bridge.CodeInvalid, "lease: invalid duration %q (at most %s)", v, maxLease)
		}
		t.Lease = d
	}
	if v := q.Get("continued"); v != "" {
		b, err := truth("continued", v)
		if err != nil {
			return nil, err
		}
		t.Continued = &b
	}
	return func(ctx context.Context) ([]bridge.Message, error) { return s.engine.Sessions.Take(ctx, t) }, nil
}
