// Package client talks to a nod daemon. It re-attaches by itself: a wait
// survives dropped connections and restarts of the daemon.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

const (
	pollFor    = 25 * time.Second // of one call; shorter than the patience of most proxies
	pollGrace  = 10 * time.Second
	retryFirst = 100 * time.Millisecond
	retryMost  = 3 * time.Second
	// shortPoll is the least time between two polls that return at once.
	shortPoll = 500 * time.Millisecond
	// giveUp is how long a daemon may be away before a wait fails.
	giveUp = 2 * time.Minute
)

var _ bridge.Asker = (*Client)(nil)

// Client is a connection to a daemon. It is safe for concurrent use.
type Client struct {
	// Patience is how long the daemon may be away before a call fails; 0: two
	// minutes. Set it before the first call.
	Patience time.Duration
	// Trace goes with every call, so that what it asks belongs to the trace of
	// the caller, as W3C Trace Context writes a traceparent; empty: none. Set it
	// before the first call.
	Trace string

	base  string
	token string
	http  *http.Client
}

// New returns a client for the daemon at base, such as http://127.0.0.1:8787.
// A nil httpClient is http.DefaultClient.
func New(base, token string, httpClient *http.Client) *Client {
	if httpClient == nil {
		httpClient = http.DefaultClient
	}
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: httpClient}
}

// Open asks a human. With an empty key it makes one of its own, so that its
// own retries are safe.
func (c *Client) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	if key == "" {
		key = uuid.NewString()
	}
	var rec bridge.Record
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodPost, "/v1/interactions", http.Header{"Idempotency-Key": {key}}, r, &rec)
	})
	return rec, err
}

// Wait returns once the interaction is over: ended, or queued. It asks again after a dropped
// connection, until ctx ends or the daemon was away for two minutes.
func (c *Client) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	for {
		var rec bridge.Record
		err := c.retry(ctx, func(ctx context.Context) error {
			return c.do(ctx, http.MethodGet, "/v1/interactions/"+string(id)+"?wait="+pollFor.String(), nil, nil, &rec)
		})
		if err != nil || rec.Over() {
			return rec, err
		}
	}
}

// Get reads an interaction.
func (c *Client) Get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	var rec bridge.Record
	err := c.do(ctx, http.MethodGet, "/v1/interactions/"+string(id), nil, nil, &rec)
	return rec, err
}

// List returns a page of interactions.
func (c *Client) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	q := url.Values{}
	for k, v := range map[string]string{"state": string(f.State), "session": f.Session, "cursor": f.Cursor} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	var page bridge.List
	err := c.do(ctx, http.MethodGet, "/v1/interactions?"+q.Encode(), nil, nil, &page)
	return page, err
}

// Respond answers as the person whose token the client has.
func (c *Client) Respond(ctx context.Context, id bridge.ID, a bridge.Reply) (bridge.Record, error) {
	var rec bridge.Record
	err := c.do(ctx, http.MethodPost, "/v1/interactions/"+string(id)+"/response", nil, a, &rec)
	return rec, err
}

// Cancel withdraws a pending interaction.
func (c *Client) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	var rec bridge.Record
	err := c.do(ctx, http.MethodPost, "/v1/interactions/"+string(id)+"/cancel", nil, map[string]string{"reason": reason}, &rec)
	return rec, err
}

// CancelSession withdraws everything pending in a session.
func (c *Client) CancelSession(ctx context.Context, session, reason string) (bridge.List, error) {
	var page bridge.List
	err := c.do(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(session)+"/cancel", nil, map[string]string{"reason": reason}, &page)
	return page, err
}

// retry repeats what failed because the daemon was away.
func (c *Client) retry(ctx context.Context, call func(context.Context) error) error {
	wait, began, hung := retryFirst, time.Now(), false
	for {
		start := time.Now()
		err := call(ctx)
		if own, ok := errors.AsType[callbackError](err); ok {
			return own.error
		}
		code := bridge.ErrorCode(err)
		if err == nil || ctx.Err() != nil || code != bridge.CodeUnavailable && code != bridge.CodeRateLimited {
			if err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
		switch late := errors.Is(err, context.DeadlineExceeded); {
		case late && !hung:
			wait, began, hung = retryFirst, time.Now().Add(-pollGrace), true // it should have answered by then
		case !late && time.Since(start) > retryMost:
			wait, began, hung = retryFirst, time.Now(), false // it was there for a while
		}
		if time.Since(began) > cmp.Or(c.Patience, giveUp) {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		wait = min(2*wait, retryMost)
	}
}

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "the daemon's address").WithHint("set NOD_URL to something like http://127.0.0.1:8787")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if c.Trace != "" {
		req.Header.Set("Traceparent", c.Trace)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func (c *Client) do(ctx context.Context, method, path string, header http.Header, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, pollFor+pollGrace)
	defer cancel()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "request")
		}
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return away(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return failure(resp)
	}
	if out == nil {
		return nil
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return away(err)
	}
	return readAnswer(raw, out)
}

// answers bounds what a daemon answers: a page of records.
var answers = strictjson.Limits{Depth: 1000, Bytes: 256 << 20}

// readAnswer reads what the daemon answered. Text that only a careless decoder
// could read does not come from a daemon.
func readAnswer(raw []byte, out any) error {
	if err := answers.Decode(raw, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "the daemon's answer is not understood").WithHint("is NOD_URL the address of a nod daemon?")
	}
	return nil
}

func away(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return bridge.Wrap(bridge.CodeUnavailable, err, "the nod daemon is not reachable").WithHint("is `nod serve` running, and is NOD_URL right?")
}

// failure is the error that the daemon answered with.
func failure(resp *http.Response) error {
	var body struct {
		Error *bridge.Error `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body); err != nil || body.Error == nil {
		code := bridge.CodeInternal
		if resp.StatusCode >= 500 {
			code = bridge.CodeUnavailable
		}
		return bridge.Errorf(code, "the daemon answered %s", resp.Status)
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		body.Error.RetryAfter = time.Duration(n) * time.Second
	}
	return body.Error
}
