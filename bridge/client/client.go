// Package client calls a nod daemon over its HTTP API. It reconnects
// automatically, so a wait survives dropped connections and restarts of the
// daemon.
//
// This package holds one method for each operation of the API, the retries, and
// the check that a response comes from a nod daemon. Flags, output, exit codes
// and the verification of receipts belong to cmd/nod.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

const (
	// pollFor is the maximum wait of one call. It is shorter than the timeouts
	// of most proxies.
	pollFor    = 25 * time.Second
	pollGrace  = 10 * time.Second
	retryFirst = 100 * time.Millisecond
	retryMost  = 3 * time.Second
	// shortPoll is the minimum time between two polls that return immediately.
	shortPoll = 500 * time.Millisecond
	// giveUp is the time that a daemon may be unreachable before a wait fails.
	giveUp = 2 * time.Minute
	// tellAfter is the age of an outage that is reported.
	tellAfter = time.Second
)

var _ bridge.Asker = (*Client)(nil)

// Client is a connection to a daemon. It is safe for concurrent use.
type Client struct {
	// Patience is the time that the daemon may be unreachable before a call
	// fails. Zero means two minutes. Set it before the first call.
	Patience time.Duration
	// FirstPatience is the time for which the daemon may refuse connections if
	// no call has reached it yet: it probably does not run, or the address is
	// wrong. Zero means Patience. Set it before the first call.
	FirstPatience time.Duration
	// Retrying, if not nil, is called about a second after a daemon became
	// unreachable, once for each outage of a call. Set it before the first
	// call.
	Retrying func(err error)
	// Trace is sent with every call, so that requests belong to the caller's
	// trace. It is a traceparent in the format of W3C Trace Context. If it is
	// empty, calls have no trace. Set it before the first call.
	Trace string

	base    string
	token   string
	http    *http.Client
	reached atomic.Bool // a daemon has answered
}

// maxIdleConns is the maximum number of unused connections to the daemon that
// clients keep. Each waiting call has a connection of its own, so a program with
// many concurrent calls would otherwise connect for nearly each of them.
const maxIdleConns = 128

// transport returns the transport of clients without an HTTP client of their
// own.
var transport = sync.OnceValue(func() http.RoundTripper {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // a program has replaced it
		return http.DefaultTransport
	}
	t := base.Clone()
	t.MaxIdleConnsPerHost = maxIdleConns
	return t
})

// New returns a client for the daemon at base, such as http://127.0.0.1:8787. A
// nil httpClient means a client that keeps its connections.
func New(base, token string, httpClient *http.Client) *Client {
	own := http.Client{}
	if httpClient != nil {
		own = *httpClient
	} else {
		own.Transport = transport()
	}
	// A daemon never redirects, so a redirect comes from another service.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: strings.TrimRight(base, "/"), token: token, http: &own}
}

// known returns an error unless rec is a nod daemon's record of the request
// with an ID, or of a new request if id is empty.
func known(rec bridge.Record, id bridge.ID) error {
	got := rec.Interaction.ID
	if _, err := bridge.ParseID(string(got)); err != nil || id != "" && got != id || !slices.Contains(bridge.States, rec.State) {
		return foreign()
	}
	return nil
}

// foreign returns the error for a response that does not come from a nod
// daemon. Such calls are not retried.
func foreign() error {
	return bridge.Errorf(bridge.CodeInternal, "the response does not come from a nod daemon").WithHint("check NOD_URL and any proxies in between")
}

// Open sends a request. If key is empty, Open generates one, so that its own
// retries are safe.
func (c *Client) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	if key == "" {
		key = uuid.NewString()
	}
	var rec bridge.Record
	err := c.retry(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodPost, "/v1/interactions", http.Header{"Idempotency-Key": {key}}, r, &rec)
	})
	if err == nil {
		err = known(rec, "")
	}
	return rec, err
}

// Wait returns when the request is resolved or deferred. It retries after
// dropped connections until ctx ends or the daemon has been unreachable for two
// minutes.
func (c *Client) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	for {
		var rec bridge.Record
		err := c.retry(ctx, func(ctx context.Context) error {
			return c.do(ctx, http.MethodGet, "/v1/interactions/"+string(id)+"?wait="+pollFor.String(), nil, nil, &rec)
		})
		if err == nil {
			err = known(rec, id)
		}
		if err != nil || rec.Over() {
			return rec, err
		}
	}
}

// Get returns a request.
func (c *Client) Get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	var rec bridge.Record
	err := c.do(ctx, http.MethodGet, "/v1/interactions/"+string(id), nil, nil, &rec)
	if err == nil {
		err = known(rec, id)
	}
	return rec, err
}

// List returns a page of requests.
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

// Respond responds as the person who owns the client's token.
func (c *Client) Respond(ctx context.Context, id bridge.ID, a bridge.Reply) (bridge.Record, error) {
	var rec bridge.Record
	err := c.do(ctx, http.MethodPost, "/v1/interactions/"+string(id)+"/response", nil, a, &rec)
	if err == nil {
		err = known(rec, id)
	}
	return rec, err
}

// Cancel cancels a pending request.
func (c *Client) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	var rec bridge.Record
	err := c.do(ctx, http.MethodPost, "/v1/interactions/"+string(id)+"/cancel", nil, map[string]string{"reason": reason}, &rec)
	if err == nil {
		err = known(rec, id)
	}
	return rec, err
}

// CancelSession cancels all pending requests of a session.
func (c *Client) CancelSession(ctx context.Context, session, reason string) (bridge.List, error) {
	var page bridge.List
	err := c.do(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(session)+"/cancel", nil, map[string]string{"reason": reason}, &page)
	return page, err
}

// retry repeats a call that failed because the daemon was unreachable.
func (c *Client) retry(ctx context.Context, call func(context.Context) error) error {
	out := outage{pause: retryFirst, began: time.Now()}
	for {
		start := time.Now()
		err := call(ctx)
		if own, ok := errors.AsType[callbackError](err); ok {
			return own.error
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if code := bridge.ErrorCode(err); err == nil || code != bridge.CodeUnavailable && code != bridge.CodeRateLimited {
			return err
		}
		out.failed(start, errors.Is(err, context.DeadlineExceeded))
		past := time.Since(out.began)
		if past > c.patience(err) {
			return err
		}
		if past+out.pause > tellAfter && !out.told && c.Retrying != nil {
			out.told = true
			c.Retrying(err)
		}
		if !bridge.Pause(ctx, out.pause) {
			return ctx.Err()
		}
		out.pause = min(2*out.pause, retryMost)
	}
}

// patience returns how long calls may fail with err.
func (c *Client) patience(err error) time.Duration {
	patience := cmp.Or(c.Patience, giveUp)
	if c.FirstPatience != 0 && !c.reached.Load() && errors.Is(err, syscall.ECONNREFUSED) {
		return min(patience, c.FirstPatience)
	}
	return patience
}

// outage is a period in which the daemon does not respond.
type outage struct {
	began time.Time
	pause time.Duration // before the next call
	hung  bool          // a call timed out
	told  bool          // Retrying was called
}

// failed records a failed call that began at start. If the daemon was reachable
// in between, a new outage begins.
func (o *outage) failed(start time.Time, late bool) {
	switch {
	case late && !o.hung:
		*o = outage{time.Now().Add(-pollGrace), retryFirst, true, o.told} // the response was due by then
	case !late && time.Since(start) > retryMost:
		*o = outage{time.Now(), retryFirst, false, false} // the daemon was reachable for a while
	}
}

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, c.invalidURL()
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

func (c *Client) invalidURL() error {
	return bridge.Errorf(bridge.CodeInvalid, "invalid daemon URL %q", c.base).WithHint("set NOD_URL to a URL such as http://127.0.0.1:8787")
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
		return c.away(err)
	}
	c.reached.Store(true)
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return c.failure(resp)
	}
	if out == nil {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return foreign()
	}
	raw, err := readBody(resp, maxPage+1)
	if err != nil {
		return c.away(err) // retry an incomplete response
	}
	if len(raw) > maxPage {
		return foreign()
	}
	return readAnswer(raw, out)
}

// address returns the address of the daemon for messages, without a password.
func (c *Client) address() string {
	u, err := url.Parse(c.base)
	if err != nil {
		return "an invalid address"
	}
	return u.Redacted()
}

func (c *Client) away(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	err = inWords(err)
	return bridge.Wrap(bridge.CodeUnavailable, err, "the nod daemon at %s is unreachable", c.address()).
		WithHint("start it with: nod serve, or set NOD_URL")
}

// worded is an error of the network in plain words.
type worded struct {
	error
	words string
}

func (w worded) Error() string { return w.words }
func (w worded) Unwrap() error { return w.error }

// inWords puts the usual errors of a network into plain words.
func inWords(err error) error {
	words := ""
	dns, isDNS := errors.AsType[*net.DNSError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	number, isNumber := errors.AsType[syscall.Errno](err)
	certificate, isTLS := errors.AsType[*tls.CertificateVerificationError](err)
	_, isPlain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		words = "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		words = "the connection was closed"
	case isDNS && dns.IsNotFound:
		words = "unknown host " + dns.Name
	case isDNS:
		words = "the name " + dns.Name + " cannot be looked up"
	case errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		words = "no response in time"
	case isNumber:
		words = number.Error()
	case isTLS:
		words = "its certificate is not valid: " + strings.TrimPrefix(certificate.Err.Error(), "x509: ")
	case isPlain, strings.HasSuffix(err.Error(), "server gave HTTP response to HTTPS client"):
		words = "it does not speak TLS; use http:// in NOD_URL"
	default:
		return err
	}
	return worded{err, words}
}

// failure returns the error in a daemon's response.
func (c *Client) failure(resp *http.Response) error {
	var body struct {
		Error *bridge.Error `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body); err != nil || body.Error == nil {
		if resp.StatusCode >= 500 { // such as a proxy whose daemon restarts
			return bridge.Errorf(bridge.CodeUnavailable, "the nod daemon at %s is unreachable: the server in front of it reports status %d",
				c.address(), resp.StatusCode).
				WithHint("check that nod serve is running, and the proxies in between")
		}
		return foreign()
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		body.Error.RetryAfter = time.Duration(n) * time.Second
	}
	return body.Error
}
