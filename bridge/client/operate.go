package client

import (
	"context"
	"io"
	"net/http"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Keys returns the public keys of the daemon's receipts and seals.
func (c *Client) Keys(ctx context.Context) (proof.JWKS, error) {
	return result[proof.JWKS](ctx, c, call{method: http.MethodGet, path: at("keys")})
}

// Audit writes the audit log to w as JSON lines. The token of the client must
// belong to an auditor.
func (c *Client) Audit(ctx context.Context, w io.Writer) error {
	resp, err := c.start(ctx, http.MethodGet, at("audit"), nil, nil, http.StatusOK)
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

// Reachable returns nil if a daemon answers a call that has nothing of an agent
// in it. Unlike that of Health, its path is one that proxies forward. Reachable
// needs no token and does not retry.
func (c *Client) Reachable(ctx context.Context) error {
	req, err := c.request(ctx, http.MethodGet, at("keys"), http.Header{"Authorization": nil}, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.away(ctx, err)
	}
	defer resp.Body.Close()
	if resp.Header.Get(bridge.HeaderDaemon) != "" {
		c.reached.Store(true)
		return nil
	}
	return c.failure(resp.StatusCode, resp.Header, nil)
}

// Health decodes the health of the daemon into out, an *api.Health. It reports
// whether the daemon is healthy. With ready, it reports whether the daemon can
// also show requests to people. Health needs no token and does not retry. It
// returns CodeUnavailable if no daemon answers.
func (c *Client) Health(ctx context.Context, ready bool, out any) (bool, error) {
	path := "/healthz"
	if ready {
		path = "/readyz"
	}
	answer, err := c.send(ctx, http.MethodGet, path, http.Header{"Authorization": nil}, nil, http.StatusOK, http.StatusServiceUnavailable)
	switch {
	case err != nil:
		return false, err
	case answer.status != http.StatusOK && answer.kind() != contentJSON:
		return false, c.failure(answer.status, answer.header, nil)
	}
	err = answer.decode(out)
	return err == nil && answer.status == http.StatusOK, err
}

// Reload makes the daemon reload its config, and decodes the changes into
// out. A header proves the right to do so. It does not retry.
func (c *Client) Reload(ctx context.Context, header, proof string, out any) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/admin/reload", header: http.Header{header: {proof}}}, out)
}
