package client

import (
	"context"
	"net/http"
)

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
