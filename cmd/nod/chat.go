package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
	"github.com/nodbridge/nod/bridge/relay"
)

// withdrawTimeout limits how long nod takes to cancel a request after its agent
// has stopped waiting.
const withdrawTimeout = 3 * time.Second

// reason returns why the agent of an ended context stopped waiting. It names no
// decision that nod does not know. An agent ends its hook by a signal if its user
// has dismissed the dialog.
func reason(ctx context.Context) string {
	if w, ok := errors.AsType[relay.Withdrawal](context.Cause(ctx)); ok {
		return string(w)
	}
	if _, ok := interrupted(ctx); ok {
		return bridge.ReasonDismissed
	}
	return "the agent stopped waiting"
}

// chatClient asks people for an agent whose user may also answer elsewhere. It
// cancels a request once its agent has stopped waiting.
type chatClient struct {
	*client.Client
	// connection is the one in which the IDs of the agent's messages are unique.
	connection string
}

// Ask implements relay.Asker.
func (c chatClient) Ask(ctx context.Context, format string, query url.Values, body []byte) (json.RawMessage, error) {
	translate := map[string]func([]byte) (dialect.Translation, error){"acp": acp.Request, "codex": codex.Request, "mcp_elicitation": elicitation.Translate}[format]
	if translate == nil {
		return nil, bridge.Errorf(bridge.CodeInternal, "unknown format %q", format)
	}
	t, err := translate(body) // if the daemon reads it otherwise, its answer does not count
	return c.exchange(ctx, client.Exchange{Path: "/v1/dialects/" + format, Query: query, Body: body, Doubts: doubtsAbout(t), Check: func(a client.Answered) error {
		if err != nil {
			return mistrust(err)
		}
		return covered(t, a)
	}})
}

// Approve implements relay.Approver.
func (c chatClient) Approve(ctx context.Context, r bridge.Request) (bridge.Record, error) {
	rec, err := c.Request(ctx, r, client.Sending{Reason: func() string { return reason(ctx) }})
	if err == nil {
		err = verified(rec, r)
	}
	return rec, err
}

func (c chatClient) exchange(ctx context.Context, x client.Exchange) (json.RawMessage, error) {
	var open []bridge.Record
	x.Caller, x.Connection = uuid.NewString(), c.connection
	x.Pending = func(r []bridge.Record) { open = r }
	answer, err := c.Exchange(ctx, x)
	if ctx.Err() == nil {
		return answer, err
	}
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer stop()
	if open == nil { // it may have just been opened: the caller ID finds it
		found, seen := context.WithCancel(late)
		defer seen()
		x.Pending = func(r []bridge.Record) { open = r; seen() }
		_, _ = c.Exchange(found, x) // seen ends it; otherwise there is nothing to cancel
	}
	for _, r := range open {
		_, _ = c.Leave(late, r.Interaction.ID, x.Caller, reason(ctx)) // best effort: otherwise it expires
	}
	return answer, err
}
