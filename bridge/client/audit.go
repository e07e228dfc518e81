package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Keys returns the public keys of the daemon's receipts and seals.
func (c *Client) Keys(ctx context.Context) (proof.JWKS, error) {
	var keys proof.JWKS
	err := c.do(ctx, http.MethodGet, "/v1/keys", nil, nil, &keys)
	return keys, err
}

// Audit writes the audit log to w as JSON lines. The token of the client must
// belong to an auditor.
func (c *Client) Audit(ctx context.Context, w io.Writer) error {
	resp, err := c.start(ctx, http.MethodGet, "/v1/audit", nil, nil, http.StatusOK)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "the audit log is incomplete")
	}
	if resp.Trailer.Get("Nod-Complete") != "true" {
		return bridge.Errorf(bridge.CodeUnavailable, "the audit log is incomplete").WithHint("look for the reason in the daemon's log")
	}
	return nil
}

// Link links the account that received a code to the person who owns the
// client's token, and returns a description of the result. If confirm is false,
// it returns a preview and links nothing.
func (c *Client) Link(ctx context.Context, code string, confirm bool) (string, error) {
	var out struct {
		Said string `json:"said"`
	}
	err := c.do(ctx, http.MethodPost, "/v1/links", nil, map[string]any{"code": code, "confirm": confirm}, &out)
	return out.Said, err
}

// Links lists the accounts that are linked to the person.
func (c *Client) Links(ctx context.Context) ([]bridge.Link, error) {
	var out struct {
		Items []bridge.Link `json:"items"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/links", nil, nil, &out)
	return out.Items, err
}

// Unlink removes a link.
func (c *Client) Unlink(ctx context.Context, platform, user string) error {
	return c.do(ctx, http.MethodDelete, "/v1/links/"+url.PathEscape(platform)+"/"+url.PathEscape(user), nil, nil, nil)
}
