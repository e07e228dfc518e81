package client

import (
	"context"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// ReportCoverage sends the coverage of this host to the daemon, as the agent
// that owns the client's token.
func (c *Client) ReportCoverage(ctx context.Context, h bridge.HostCoverage) error {
	return c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodPut, "/v1/coverage", nil, h, nil)
	})
}
