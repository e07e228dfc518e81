package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/nodbridge/nod/bridge"
)

// Sessions returns the sessions that the caller may see, newest first.
func (c *Client) Sessions(ctx context.Context) ([]bridge.Session, error) {
	var page struct {
		Items []bridge.Session `json:"items"`
	}
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "/v1/sessions", nil, nil, &page)
	})
	return page.Items, err
}

// Stopped returns the stop of a session of the agent that owns the client's
// token. It returns nil if the session is not stopped. It does not retry.
func (c *Client) Stopped(ctx context.Context, session string) (*bridge.Stop, error) {
	var page struct {
		Items []bridge.Session `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/sessions?"+url.Values{"session": {session}}.Encode(), nil, nil, &page)
	for _, s := range page.Items {
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
	var out bridge.Session
	err := c.do(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(session), nil, r, &out)
	return out, err
}

// StopSession stops a session, and returns the stopped sessions. An empty agent
// means every agent with such a session.
func (c *Client) StopSession(ctx context.Context, agent, session string) ([]bridge.Stop, error) {
	var out []bridge.Stop
	err := c.retry(ctx, func(ctx context.Context) error {
		var err error
		out, err = c.changeSession(ctx, agent, session, "stop")
		return err
	})
	return out, err
}

// ResumeSession resumes a session as the person who owns the client's token. It
// does not retry, because a repeat could undo a later stop.
func (c *Client) ResumeSession(ctx context.Context, agent, session string) ([]bridge.Stop, error) {
	return c.changeSession(ctx, agent, session, "resume")
}

func (c *Client) changeSession(ctx context.Context, agent, session, verb string) ([]bridge.Stop, error) {
	body := map[string]string{}
	if agent != "" {
		body["agent"] = agent
	}
	var page struct {
		Items []bridge.Stop `json:"items"`
	}
	err := c.do(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(session)+"/"+verb, nil, body, &page)
	return page.Items, err
}
