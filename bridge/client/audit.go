package client

import (
	"context"
	"io"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// Keys are the public keys of the daemon's receipts and seals.
func (c *Client) Keys(ctx context.Context) (bridge.JWKS, error) {
	var keys bridge.JWKS
	err := c.do(ctx, http.MethodGet, "/v1/keys", nil, nil, &keys)
	return keys, err
}

// Audit writes the audit log as JSON lines; the client's token has to be an
// auditor's.
func (c *Client) Audit(ctx context.Context, w io.Writer) error {
	req, err := c.request(ctx, http.MethodGet, "/v1/audit", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return away(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return failure(resp)
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "the audit log was cut short")
	}
	if resp.Trailer.Get("Nod-Complete") != "true" {
		return bridge.Errorf(bridge.CodeUnavailable, "the audit log was cut short").WithHint("the daemon's log says why")
	}
	return nil
}
