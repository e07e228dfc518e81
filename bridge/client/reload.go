package client

import (
	"context"
	"net/http"
)

// Reload makes the daemon read its config again, and decodes the changes into
// out. A header proves the right to do so. It does not retry.
func (c *Client) Reload(ctx context.Context, header, proof string, out any) error {
	return c.do(ctx, http.MethodPost, "/admin/reload", http.Header{header: {proof}}, nil, out)
}
