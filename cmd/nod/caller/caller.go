// Package caller holds the code that all commands calling the daemon share: the
// client, the checks before a request, and the verification of an answer. It
// does not depend on flags or output formats. Start reading at New.
package caller

import (
	"context"
	"errors"
	"net/url"
	"os"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/cmd/nod/cli"
)

// MaxInput limits the size of a file that a user names, such as an exported
// audit log, in bytes.
const MaxInput = 1 << 30

// New returns a client for the daemon at an address, with the token from the
// environment. If the address is empty, it uses the address from the
// environment.
func New(url string) (*client.Client, error) {
	if url == "" {
		url = os.Getenv("NOD_URL")
	}
	if url == "" {
		url = "http://127.0.0.1:8787"
	}
	token := os.Getenv("NOD_TOKEN")
	if token == "" {
		return nil, bridge.Errorf(bridge.CodeUnauthenticated, "NOD_TOKEN is not set").
			WithHint("set it to the token of an agent or a person; see nod config token --help")
	}
	c := client.New(url, token, nil)
	c.Patience, c.FirstPatience = 0, RefusedPatience
	c.Doubts = DoubtsAboutRequest
	c.Trace = os.Getenv("TRACEPARENT") // OpenTelemetry passes the trace to commands this way
	return c, nil
}

// RefusedPatience is the time for which nod retries if the daemon refuses the
// very first connection.
const RefusedPatience = 3 * time.Second

// Reason returns why the agent of an ended context stopped waiting. It never
// claims a decision that nod does not know of. If the user of an agent
// dismissed the dialog, the agent ends its hook with a signal.
func Reason(ctx context.Context) string {
	if w, ok := errors.AsType[relay.Withdrawal](context.Cause(ctx)); ok {
		return string(w)
	}
	if _, ok := cli.Interrupted(ctx); ok {
		return bridge.ReasonDismissed
	}
	return "the agent stopped waiting"
}

// Query returns the query parameters for a message in an agent's own
// format.
func Query(route string, timeout, grace time.Duration) url.Values {
	q := url.Values{"timeout": {timeout.String()}}
	if grace > 0 {
		q.Set("grace", grace.String())
	}
	if route != "" {
		q.Set("route", route)
	}
	return q
}
