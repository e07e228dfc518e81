package client

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

// Exchange is a message in an agent's own format.
type Exchange struct {
	Path  string // such as /v1/hooks/claude or /v1/dialects/acp
	Query url.Values
	Body  []byte
	// Connection is the connection in which the IDs of the message are unique.
	// It may be empty.
	Connection string
	// caller ID; if empty, it is random
	Caller string
	// Doubts are reasons why no rule may allow the operation in the message;
	// see [bridge.Act].
	Doubts []string
	// Pending, if not nil, is called when the message's requests are open and
	// wait for people.
	Pending func([]bridge.Record)
	// Check, if not nil, is called with the answer and its evidence before
	// Exchange returns. Exchange returns its error.
	Check func(Answered) error
	// Keep leaves the requests open if ctx ends.
	Keep bool
	// Reason returns the reason that the caller gave up, for the cards. It may
	// be nil.
	Reason func() string
}

// Answered is an answer in a dialect, with its evidence.
type Answered struct {
	Body []byte
	// Receipts holds one receipt for each request. It is empty for a request
	// that closed without a decision.
	Receipts []string
	// Interactions holds the IDs of the requests, in the same order. It is empty
	// if the daemon is older.
	Interactions []bridge.ID
	// Statement is the signed statement that binds the body to the outcomes of
	// the requests.
	Statement string
}

// Exchange sends a message and waits for its answer in the same format. It
// retries after dropped connections until ctx ends or the daemon has been
// unreachable for too long. If ctx ends before the answer, or the daemon stays
// unreachable, Exchange cancels the requests that it has opened.
func (c *Client) Exchange(ctx context.Context, x Exchange) (answer json.RawMessage, err error) {
	if x.Caller == "" {
		x.Caller = uuid.NewString()
	}
	var open []bridge.Record
	// the first waits are short, only to report pending requests early
	err = c.poll(ctx, atOnce, func(ctx context.Context, wait string) (bool, error) {
		got, waits, err := x.send(ctx, c, wait)
		if answer = got; err != nil || waits == nil {
			return true, err
		}
		if open = waits; x.Pending != nil {
			x.Pending(open)
			x.Pending = nil
		}
		return false, nil
	})
	if !x.Keep && (ctx.Err() != nil || open != nil && gaveUp(err)) {
		c.leaveExchange(ctx, x, open)
	}
	return answer, err
}

// leaveExchange cancels the requests that a caller has opened. If it never
// received their IDs, it asks for them again as the same caller.
func (c *Client) leaveExchange(ctx context.Context, x Exchange, open []bridge.Record) {
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveFor)
	defer stop()
	c = c.leaving()
	x.Check = nil    // an answer now would be too late
	if open == nil { // best effort: the request expires otherwise
		_ = c.retry(late, func(ctx context.Context) (err error) {
			_, open, err = x.send(ctx, c, atOnce.String())
			return err
		})
	}
	for _, rec := range open {
		_, _ = c.Leave(late, rec.Interaction.ID, x.Caller, why(x.Reason)) // best effort: the request expires otherwise
	}
}

// send makes one call. It returns the answer, or the pending requests if there
// is no answer yet.
func (x Exchange) send(ctx context.Context, c *Client, wait string) (json.RawMessage, []bridge.Record, error) {
	q := url.Values{}
	maps.Copy(q, x.Query)
	q.Set("wait", wait)
	header := identified(bridge.CallID{Connection: x.Connection, Caller: x.Caller})
	doubted(header, x.Doubts)
	got, err := c.send(ctx, http.MethodPost, x.Path+"?"+q.Encode(), header, x.Body, http.StatusOK, http.StatusAccepted)
	var list bridge.List
	switch {
	case err != nil:
		return nil, nil, err
	case got.status == http.StatusAccepted:
		if err := got.decode(&list); err != nil {
			return nil, nil, err
		}
		return nil, append([]bridge.Record{}, list.Items...), nil
	case got.kind() != contentJSON && got.kind() != "text/plain":
		return nil, nil, foreign()
	case x.Check == nil:
		return bytes.TrimSpace(got.raw), nil, nil
	}
	a := Answered{Body: got.raw, Receipts: got.header.Values("Nod-Receipt"), Statement: got.header.Get("Nod-Answer")}
	for _, id := range got.header.Values("Nod-Interaction") {
		a.Interactions = append(a.Interactions, bridge.ID(id))
	}
	if err := x.Check(a); err != nil {
		return nil, nil, callbackError{err}
	}
	return bytes.TrimSpace(got.raw), nil, nil
}
