package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

// maxAnswer limits a daemon's response, in bytes.
const maxAnswer = 4 << 20

// Exchange is a message in an agent's own format.
type Exchange struct {
	Path  string // such as /v1/hooks/claude or /v1/dialects/acp
	Query url.Values
	Body  []byte
	// Connection is the connection in which the IDs of the message are unique.
	// It may be empty.
	Connection string
	// Caller is the caller ID; if empty, a random one.
	Caller string
	// Doubts are reasons why no rule may allow what the message asks; see
	// [bridge.Act].
	Doubts []string
	// Pending, if not nil, is called when the message's requests are open and
	// wait for people.
	Pending func([]bridge.Record)
	// Check, if not nil, is called with the answer and its evidence before
	// Exchange returns. Exchange returns its error.
	Check func(Answered) error
	// Keep leaves the requests open if ctx ends.
	Keep bool
	// Reason returns why the caller gave up, for the cards. It may be nil.
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
// unreachable for too long. If ctx ends before the answer, at any moment, Exchange
// cancels what it has opened.
func (c *Client) Exchange(ctx context.Context, x Exchange) (json.RawMessage, error) {
	if x.Caller == "" {
		x.Caller = uuid.NewString()
	}
	var waits []bridge.Record
	wait := time.Millisecond // report pending requests early
	for {
		began := time.Now()
		var answer json.RawMessage
		var open []bridge.Record
		err := c.retry(ctx, func(ctx context.Context) error {
			var err error
			answer, open, err = x.send(ctx, c, wait)
			return err
		})
		if err == nil && open != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if ctx.Err() != nil && !x.Keep {
			c.leaveExchange(ctx, x, waits)
		}
		if err != nil || open == nil {
			return answer, err
		}
		waits = open
		if x.Pending != nil {
			x.Pending(open)
			x.Pending = nil
		}
		if wait == pollFor && time.Since(began) < shortPoll { // the daemon did not wait
			bridge.Pause(ctx, shortPoll)
		}
		wait = pollFor
	}
}

// leaveExchange cancels what a caller has opened. If the IDs never arrived, the
// same caller asks for them again.
func (c *Client) leaveExchange(ctx context.Context, x Exchange, open []bridge.Record) {
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveFor)
	defer stop()
	c = c.leaving()
	x.Check = nil    // an answer comes too late
	if open == nil { // best effort, as below
		_ = c.retry(late, func(ctx context.Context) (err error) {
			_, open, err = x.send(ctx, c, time.Millisecond)
			return err
		})
	}
	for _, rec := range open {
		_, _ = c.Leave(late, rec.Interaction.ID, x.Caller, why(x.Reason)) // best effort: otherwise it expires
	}
}

// send makes one call. It returns the answer, or the pending requests if there
// is no answer yet.
func (x Exchange) send(ctx context.Context, c *Client, wait time.Duration) (json.RawMessage, []bridge.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+pollGrace)
	defer cancel()
	q := url.Values{}
	for k, v := range x.Query {
		q[k] = v
	}
	q.Set("wait", wait.String())
	req, err := c.request(ctx, http.MethodPost, x.Path+"?"+q.Encode(), x.Body)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(req.Header, identified(bridge.CallID{Connection: x.Connection, Caller: x.Caller}))
	doubted(req.Header, x.Doubts)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, c.away(err)
	}
	defer resp.Body.Close()
	if err := c.expected(resp, http.StatusOK, http.StatusAccepted); err != nil {
		return nil, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = errors.New("the response is too long")
	}
	if err != nil {
		return nil, nil, c.away(err)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != contentJSON && kind != "text/plain" {
		return nil, nil, foreign()
	}
	if resp.StatusCode != http.StatusAccepted {
		if x.Check != nil {
			a := Answered{Body: raw, Receipts: resp.Header.Values("Nod-Receipt"), Statement: resp.Header.Get("Nod-Answer")}
			for _, id := range resp.Header.Values("Nod-Interaction") {
				a.Interactions = append(a.Interactions, bridge.ID(id))
			}
			if err := x.Check(a); err != nil {
				return nil, nil, callbackError{err}
			}
		}
		return bytes.TrimSpace(raw), nil, nil
	}
	var list bridge.List
	if err := readAnswer(raw, &list); err != nil {
		return nil, nil, err
	}
	return nil, append([]bridge.Record{}, list.Items...), nil
}
