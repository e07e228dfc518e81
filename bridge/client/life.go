package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// Reprompt sends a follow-up, which replaces a request in its messages. Retries
// and a key have the same effect as in Open.
func (c *Client) Reprompt(ctx context.Context, id bridge.ID, r bridge.Request, key string) (bridge.Record, error) {
	return c.open(ctx, "/v1/interactions/"+string(id)+"/reprompt", r, key)
}

// Queue defers a request, so that the agent can continue. A late answer becomes
// a message of the session.
func (c *Client) Queue(ctx context.Context, id bridge.ID, hold bridge.Duration, message string) (bridge.Record, error) {
	body := struct {
		Hold    bridge.Duration `json:"hold,omitempty"`
		Message string          `json:"message,omitempty"`
	}{hold, message}
	var rec bridge.Record
	err := c.do(ctx, http.MethodPost, "/v1/interactions/"+string(id)+"/pending", nil, body, &rec)
	return rec, err
}

// Complete reports the result of acting on a response.
func (c *Client) Complete(ctx context.Context, id bridge.ID, done bridge.Completion) (bridge.Record, error) {
	var rec bridge.Record
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodPost, "/v1/interactions/"+string(id)+"/complete", nil, done, &rec)
	})
	return rec, err
}

// Grant is a grant with the ID and description from the daemon.
type Grant struct {
	ID string `json:"id"`
	bridge.Grant
	Words string `json:"words"`
}

// Grants returns the grants that the caller may see. If session is empty, it
// returns those of all sessions.
func (c *Client) Grants(ctx context.Context, session string) ([]Grant, error) {
	var page struct {
		Items []Grant `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/grants?"+url.Values{"session": {session}}.Encode(), nil, nil, &page)
	return page.Items, err
}

// Revoke revokes a grant.
func (c *Client) Revoke(ctx context.Context, id string) (Grant, error) {
	var g Grant
	err := c.do(ctx, http.MethodDelete, "/v1/grants/"+url.PathEscape(id), nil, nil, &g)
	return g, err
}

// Messages returns the late answers of a session that are not acknowledged,
// oldest first. A session without messages is not an error.
func (c *Client) Messages(ctx context.Context, session string) ([]bridge.Message, error) {
	var page struct {
		Items []bridge.Message `json:"items"`
	}
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(session)+"/messages", nil, nil, &page)
	})
	if err == nil && slices.ContainsFunc(page.Items, func(m bridge.Message) bool { return m.Session != session }) {
		return nil, foreign()
	}
	return page.Items, err
}

// WaitMessages waits until the session has messages and returns them.
func (c *Client) WaitMessages(ctx context.Context, session string) ([]bridge.Message, error) {
	var page struct {
		Items []bridge.Message `json:"items"`
	}
	err := c.poll(ctx, c.window(), func(ctx context.Context, wait string) (bool, error) {
		err := c.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(session)+"/messages?wait="+wait, nil, nil, &page)
		return len(page.Items) > 0, err
	})
	return page.Items, err
}

// Acknowledge removes the messages of a session up to and including the one
// with an ID.
func (c *Client) Acknowledge(ctx context.Context, session, through string) error {
	return c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(session)+"/messages/ack", nil, map[string]string{"through": through}, nil)
	})
}

// Availability reports whether someone can respond now.
func (c *Client) Availability(ctx context.Context, route, session string) (bridge.Availability, error) {
	var a bridge.Availability
	q := url.Values{"route": {route}, "session": {session}}
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "/v1/availability?"+q.Encode(), nil, nil, &a)
	})
	return a, err
}

// Approvals implements bridge.Asker.
func (c *Client) Approvals() bridge.ToolApprovals { return approvals{c} }

type approvals struct{ c *Client }

type remembered struct {
	Key     string       `json:"key"`
	Session string       `json:"session,omitempty"`
	Scope   bridge.Scope `json:"scope,omitempty"`
}

func (a approvals) Get(ctx context.Context, key, session string) (bridge.Scope, error) {
	var m remembered
	// Recall is not retried, because an approval with the scope once is
	// returned only once.
	err := a.c.do(ctx, http.MethodPost, "/v1/approvals/recall", nil, remembered{Key: key, Session: session}, &m)
	return m.Scope, err
}

func (a approvals) Set(ctx context.Context, key string, s bridge.Scope, session string) error {
	return a.c.retry(ctx, func(ctx context.Context) error {
		return a.c.do(ctx, http.MethodPut, "/v1/approvals", nil, remembered{key, session, s}, nil)
	})
}

func (a approvals) ClearSession(ctx context.Context, session string) error {
	return a.c.retry(ctx, func(ctx context.Context) error {
		return a.c.do(ctx, http.MethodDelete, "/v1/approvals?"+url.Values{"session": {session}}.Encode(), nil, nil, nil)
	})
}
