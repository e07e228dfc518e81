package client

import (
	"context"
	"io"
	"net/http"
)

// maxHealth limits the response of a health check, in bytes.
const maxHealth = 1 << 20

// Health decodes the health of the daemon into out, an *api.Health. It reports
// whether the daemon is healthy or, with ready, whether it can also show
// requests to people. Health needs no token and does not retry. It returns
// CodeUnavailable if no daemon answers.
func (c *Client) Health(ctx context.Context, ready bool, out any) (bool, error) {
	path := "/healthz"
	if ready {
		path = "/readyz"
	}
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return false, err
	}
	req.Header.Del("Authorization")
	resp, err := c.http.Do(req)
	if err != nil {
		return false, c.away(err)
	}
	defer resp.Body.Close()
	switch {
	case isJSON(resp) && (resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusServiceUnavailable):
	case resp.StatusCode < http.StatusBadRequest:
		return false, foreign()
	default:
		return false, c.failure(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	if err != nil {
		return false, c.away(err)
	}
	if err := readAnswer(raw, out); err != nil {
		return false, err
	}
	return resp.StatusCode == http.StatusOK, nil
}
