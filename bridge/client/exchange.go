package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

// maxAnswer bounds what a daemon answers, in bytes.
const maxAnswer = 4 << 20

// Exchange is a message in an agent's own format.
type Exchange struct {
	Path  string // such as /v1/hooks/claude or /v1/dialects/acp
	Query url.Values
	Body  []byte
	Key   string // idempotency key; empty: a random one
	// Pending is called once the message's interactions are open and wait for
	// people; nil: nobody wants to know.
	Pending func([]bridge.Record)
	// Check is called with the answer and what proves it, before Exchange
	// returns; its error is returned instead. If it is nil, nothing is checked.
	Check func(Answered) error
}

// Answered is an answer in another system's format, and what proves it.
type Answered struct {
	Body      []byte
	Receipts  []string // one for each request; empty for one that ended without a decision
	Statement string   // binds the body to how the requests ended
}

// Exchange sends a message and waits for its answer in the same format. It
// asks again after a dropped connection, until ctx ends or the daemon was unreachable
// for too long.
func (c *Client) Exchange(ctx context.Context, x Exchange) (json.RawMessage, error) {
	if x.Key == "" {
		x.Key = uuid.NewString()
	}
	wait := time.Millisecond // to know soon what is open
	for {
		began := time.Now()
		var answer json.RawMessage
		var open []bridge.Record
		err := c.retry(ctx, func(ctx context.Context) error {
			var err error
			answer, open, err = c.exchangeOnce(ctx, x, wait)
			return err
		})
		if err != nil || open == nil {
			return answer, err
		}
		if x.Pending != nil {
			x.Pending(open)
			x.Pending = nil
		}
		if wait == pollFor && time.Since(began) < shortPoll { // it did not wait
			bridge.Pause(ctx, shortPoll)
		}
		wait = pollFor
	}
}

// exchangeOnce returns the answer, or what is open where there is none yet.
func (c *Client) exchangeOnce(ctx context.Context, x Exchange, wait time.Duration) (json.RawMessage, []bridge.Record, error) {
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
	req.Header.Set("Idempotency-Key", x.Key)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, away(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, nil, failure(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(raw) > maxAnswer {
		err = errors.New("its answer is too long")
	}
	if err != nil {
		return nil, nil, away(err)
	}
	if resp.StatusCode != http.StatusAccepted {
		if x.Check != nil {
			if err := x.Check(Answered{raw, resp.Header.Values("Nod-Receipt"), resp.Header.Get("Nod-Answer")}); err != nil {
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
