package main

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
	"github.com/nodbridge/nod/cmd/nod/caller"
)

// withdrawTimeout limits how long nod takes to cancel a request after its agent
// has stopped waiting.
const withdrawTimeout = 3 * time.Second

// chatClient asks people on behalf of an agent whose user may also answer in
// another way. It cancels a request when its agent stops waiting.
type chatClient struct {
	*client.Client
	// connection is the ID of the connection within which the agent's message
	// IDs are unique.
	connection string
}

// Ask implements relay.Asker.
func (c chatClient) Ask(ctx context.Context, format string, query url.Values, body []byte) (json.RawMessage, error) {
	translate := map[string]func([]byte) (dialect.Translation, error){"acp": acp.Request, "codex": codex.Request, "mcp_elicitation": elicitation.Translate}[format]
	if translate == nil {
		return nil, bridge.Errorf(bridge.CodeInternal, "unknown format %q", format)
	}
	t, err := translate(body) // if the daemon reads the message differently, the answer does not count
	return c.exchange(ctx, client.Exchange{Path: "/v1/dialects/" + format, Query: query, Body: body, Doubts: caller.DoubtsAbout(t), Check: func(a client.Answered) error {
		if err != nil {
			return caller.Mistrust(err)
		}
		return caller.Covered(t, a)
	}})
}

// Approve implements relay.Approver.
func (c chatClient) Approve(ctx context.Context, r bridge.Request) (bridge.Record, error) {
	rec, err := c.Request(ctx, r, client.RequestOptions{Reason: func() string { return caller.Reason(ctx) }})
	if err == nil {
		err = caller.Verified(rec, r)
	}
	return rec, err
}

func (c chatClient) exchange(ctx context.Context, x client.Exchange) (json.RawMessage, error) {
	x.Connection, x.Reason = c.connection, func() string { return caller.Reason(ctx) }
	return c.Exchange(ctx, x)
}
