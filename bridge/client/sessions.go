package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Sessions returns the sessions that the caller may see, newest first.
func (c *Client) Sessions(ctx context.Context) (bridge.Page[bridge.Session], error) {
	return result[bridge.Page[bridge.Session]](ctx, c, call{method: http.MethodGet, path: at("sessions"), again: true})
}

// Stopped returns the stop of a session of the agent that owns the client's
// token. It returns nil if the session is not stopped. It does not retry.
func (c *Client) Stopped(ctx context.Context, session string) (*bridge.Stop, error) {
	all, err := items[bridge.Session](ctx, c, call{method: http.MethodGet, path: at("sessions"), query: url.Values{"session": {session}}})
	for _, s := range all {
		if s.ID == session && s.Stopped != nil {
			return s.Stopped, err
		}
	}
	return nil, err
}

// Report reports the state of a session of the agent that owns the client's
// token. Stopped is set in the result if the session is stopped. Report does not
// retry, because the next report is newer.
func (c *Client) Report(ctx context.Context, session string, r bridge.SessionReport) (bridge.Session, error) {
	return result[bridge.Session](ctx, c, call{method: http.MethodPost, path: at("sessions", session), body: r})
}

// StopSession stops a session, and returns the stopped sessions. An empty agent
// means every agent with such a session.
func (c *Client) StopSession(ctx context.Context, agent, session string) ([]bridge.Stop, error) {
	return items[bridge.Stop](ctx, c, call{method: http.MethodPost, path: at("sessions", session, "stop"), body: ofAgent(agent), again: true})
}

// ResumeSession resumes a session as the person who owns the client's token. It
// does not retry, because a repeat could undo a later stop.
func (c *Client) ResumeSession(ctx context.Context, agent, session string) ([]bridge.Stop, error) {
	return items[bridge.Stop](ctx, c, call{method: http.MethodPost, path: at("sessions", session, "resume"), body: ofAgent(agent)})
}

// ofAgent returns the body of a call that may name an agent.
func ofAgent(agent string) map[string]string {
	if agent == "" {
		return map[string]string{}
	}
	return map[string]string{"agent": agent}
}

// CancelSession cancels all pending requests of a session.
func (c *Client) CancelSession(ctx context.Context, session, reason string) (bridge.List, error) {
	return result[bridge.List](ctx, c, call{method: http.MethodPost, path: at("sessions", session, "cancel"), body: because(reason)})
}

// Steer sends a message to a session as the person who owns the client's token.
// An empty agent means the only agent with such a session. Steer does not retry,
// because a repeat could send the message twice.
func (c *Client) Steer(ctx context.Context, agent, session, text string) (bridge.Steering, error) {
	body := ofAgent(agent)
	body["text"] = text
	return result[bridge.Steering](ctx, c, call{method: http.MethodPost, path: at("sessions", session, "messages"), body: body})
}

// Steering returns a message that a person sent to a session.
func (c *Client) Steering(ctx context.Context, session, id string) (bridge.Steering, error) {
	return result[bridge.Steering](ctx, c, call{method: http.MethodGet, path: at("sessions", session, "messages", id), again: true})
}

// messages returns a call for messages of a session.
func messages(session string, q url.Values) call {
	return call{method: http.MethodGet, path: at("sessions", session, "messages"), query: q}
}

// Messages returns the late answers of a session that are not acknowledged,
// oldest first. A session without messages is not an error.
func (c *Client) Messages(ctx context.Context, session string) ([]bridge.Message, error) {
	o := messages(session, nil)
	o.again = true
	all, err := items[bridge.Message](ctx, c, o)
	if err == nil && slices.ContainsFunc(all, func(m bridge.Message) bool { return m.Session != session }) {
		return nil, foreign()
	}
	return all, err
}

// WaitMessages waits until the session has messages and returns them.
func (c *Client) WaitMessages(ctx context.Context, session string) (all []bridge.Message, err error) {
	err = c.poll(ctx, c.window(), func(ctx context.Context, wait string) (done bool, err error) {
		all, err = items[bridge.Message](ctx, c, messages(session, url.Values{"wait": {wait}}))
		return len(all) > 0, err
	})
	return all, err
}

// MessagesWait reports whether an unreserved message from a person to a session
// is waiting. It waits up to the given time for a message. A stopped session
// has no messages. It does not retry.
func (c *Client) MessagesWait(ctx context.Context, session string, wait time.Duration) (bool, error) {
	q := url.Values{"peek": {"true"}}
	span(q, "wait", wait)
	all, err := items[bridge.Message](ctx, c, messages(session, q))
	return len(all) > 0, err
}

// span adds a duration to a query unless it is zero.
func span(q url.Values, name string, d time.Duration) {
	if d > 0 {
		q.Set(name, d.String())
	}
}

// Taking holds the options of TakeMessages.
type Taking struct {
	// Reader identifies the caller. No other reader gets the messages before
	// the lease ends. The caller has to acknowledge the messages that it has
	// passed on.
	Reader string
	// Lease is the time for which the messages are reserved. Zero means 15
	// seconds.
	Lease time.Duration
	// Wait is the time to wait for the first message. If it is zero, the call
	// does not wait.
	Wait time.Duration
	// Continued is nil unless the agent ends its turn. It reports whether a
	// message has already continued the turn.
	Continued *bool
}

// TakeMessages returns the messages that people wrote to a session and that no
// reader has acknowledged, oldest first. It does not retry.
func (c *Client) TakeMessages(ctx context.Context, session string, t Taking) ([]bridge.Message, error) {
	q := url.Values{"reader": {t.Reader}}
	span(q, "wait", t.Wait)
	span(q, "lease", t.Lease)
	if t.Continued != nil {
		q.Set("continued", strconv.FormatBool(*t.Continued))
	}
	return items[bridge.Message](ctx, c, messages(session, q))
}

// Acknowledge removes the messages of a session up to and including the one
// with the given ID.
func (c *Client) Acknowledge(ctx context.Context, session, through string) error {
	return c.do(ctx, call{
		method: http.MethodPost, path: at("sessions", session, "messages", "ack"), body: map[string]string{"through": through}, again: true,
	}, nil)
}
