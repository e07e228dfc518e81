package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/nodbridge/nod/bridge"
)

// Grant is a grant with the ID and description from the daemon.
type Grant struct {
	ID string `json:"id"`
	bridge.Grant
	Words string `json:"words"`
}

// Grants returns the grants that the caller may see. If session is empty, it
// returns those of all sessions.
func (c *Client) Grants(ctx context.Context, session string) (bridge.Page[Grant], error) {
	return result[bridge.Page[Grant]](ctx, c, call{method: http.MethodGet, path: at("grants"), query: url.Values{"session": {session}}})
}

// Revoke revokes a grant.
func (c *Client) Revoke(ctx context.Context, id string) (Grant, error) {
	return result[Grant](ctx, c, call{method: http.MethodDelete, path: at("grants", id)})
}

// Availability reports whether someone can respond now.
func (c *Client) Availability(ctx context.Context, route, session string) (bridge.Availability, error) {
	q := url.Values{"route": {route}, "session": {session}}
	return result[bridge.Availability](ctx, c, call{method: http.MethodGet, path: at("availability"), query: q, again: true})
}

// Approvals implements bridge.Asker.
func (c *Client) Approvals() bridge.ToolApprovals { return approvals{c} }

type approvals struct{ c *Client }

type remembered struct {
	Key     string       `json:"key"`
	Session string       `json:"session,omitempty"`
	Scope   bridge.Scope `json:"scope,omitempty"`
}

// Get is not retried, because an approval with the scope once is returned only
// once.
func (a approvals) Get(ctx context.Context, key, session string) (bridge.Scope, error) {
	m, err := result[remembered](ctx, a.c, call{
		method: http.MethodPost, path: at("approvals", "recall"), body: remembered{Key: key, Session: session},
	})
	return m.Scope, err
}

func (a approvals) Set(ctx context.Context, key string, s bridge.Scope, session string) error {
	return a.c.do(ctx, call{method: http.MethodPut, path: at("approvals"), body: remembered{key, session, s}, again: true}, nil)
}

func (a approvals) ClearSession(ctx context.Context, session string) error {
	return a.c.do(ctx, call{method: http.MethodDelete, path: at("approvals"), query: url.Values{"session": {session}}, again: true}, nil)
}
