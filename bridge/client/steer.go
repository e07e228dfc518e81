package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Steer sends a message to a session as the person who owns the client's token.
// An empty agent means the only agent with such a session. Steer does not retry,
// because a repeat could send the message twice.
func (c *Client) Steer(ctx context.Context, agent, session, text string) (bridge.Steering, error) {
	body := struct {
		Text  string `json:"text"`
		Agent string `json:"agent,omitempty"`
	}{text, agent}
	var s bridge.Steering
	err := c.do(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(session)+"/messages", nil, body, &s)
	return s, err
}

// Steering returns a message that a person sent to a session.
func (c *Client) Steering(ctx context.Context, session, id string) (bridge.Steering, error) {
	var s bridge.Steering
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(session)+"/messages/"+url.PathEscape(id), nil, nil, &s)
	})
	return s, err
}

// MessagesWait reports whether a message from a person to a session waits and
// is not reserved. It waits up to the given time for a message. A stopped
// session has no messages. It does not retry.
func (c *Client) MessagesWait(ctx context.Context, session string, wait time.Duration) (bool, error) {
	q := url.Values{"peek": {"true"}}
	if wait > 0 {
		q.Set("wait", wait.String())
	}
	var page struct {
		Items []bridge.Message `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(session)+"/messages?"+q.Encode(), nil, nil, &page)
	return len(page.Items) > 0, err
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
	if t.Wait > 0 {
		q.Set("wait", t.Wait.String())
	}
	if t.Lease > 0 {
		q.Set("lease", t.Lease.String())
	}
	if t.Continued != nil {
		q.Set("continued", strconv.FormatBool(*t.Continued))
	}
	var page struct {
		Items []bridge.Message `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(session)+"/messages?"+q.Encode(), nil, nil, &page)
	return page.Items, err
}
