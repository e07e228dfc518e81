package client

import (
	"context"
	"net/http"
)

// Reload makes the daemon read its config again, with a header that proves the
// right to do so, and decodes what changed into out. It does not retry.
func (c *Client) Reload(ctx context.Context, header, proof string, out any) error {
	return c.do(ctx, http.MethodPost, "/admin/reload", http.Header{header: {proof}}, nil, out)
}
