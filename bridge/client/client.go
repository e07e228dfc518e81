// Package client calls a nod daemon over its HTTP API. It reconnects
// automatically, so a wait survives dropped connections and restarts of the
// daemon.
//
// This package holds one method for each operation of the API, the retries, and
// the check that a response comes from a nod daemon. Flags, output, exit codes
// and the verification of receipts belong to cmd/nod. Start with [Client.Open]
// and [Client.Wait].
package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

const (
	// pollFor is the maximum wait of one call. It is shorter than the timeouts
	// of most proxies.
	pollFor    = 25 * time.Second
	pollGrace  = 10 * time.Second
	atOnce     = time.Millisecond // wait for a result that is already known
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
	// FirstPatience is the time for which connections may be refused, or
	// answered in another protocol, before any call has reached the daemon. In
	// this case, the daemon is probably not running, or the address is wrong.
	// Zero means Patience. Set it before the first call.
	FirstPatience time.Duration
	// Window is the longest wait of one call. A longer wait takes several
	// calls. Zero means 25 seconds. It must be shorter than the time after
	// which a proxy closes a silent connection. Set it before the first call.
	Window time.Duration
	// Doubts, if not nil, returns reasons why no rule may allow a request. The
	// daemon cannot know them; see [bridge.Act].
	Doubts func(bridge.Request) []string
	// Retrying, if not nil, is called about a second after a daemon became
	// unreachable, once for each outage of a call. Set it before the first
	// call.
	Retrying func(err error)
	// Trace is sent with every call, so that requests belong to the caller's
	// trace. It is a traceparent in the format of W3C Trace Context. If it is
	// empty, calls have no trace. Set it before the first call.
	Trace string

	base    string // "" if it is not a URL of a daemon
	token   string
	http    *http.Client
	reached atomic.Bool // a daemon has answered
}

// maxIdleConns is the maximum number of unused connections to the daemon that
// clients keep. Each waiting call has its own connection, so a program with
// many concurrent calls would otherwise open a new connection for nearly every
// call.
const maxIdleConns = 128

// transport returns the transport of clients without an HTTP client of their
// own.
var transport = sync.OnceValue(func() http.RoundTripper {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // a program has replaced http.DefaultTransport
		return http.DefaultTransport
	}
	t := base.Clone()
	t.MaxIdleConnsPerHost = maxIdleConns
	t.OnProxyConnectResponse = func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode/100 == 2 {
			return nil
		}
		return proxyRefusal{proxy.Redacted(), resp.StatusCode}
	}
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
	// Values from files and variables often end with a line break.
	return &Client{base: checked(base), token: strings.TrimSpace(token), http: &own}
}

// Open sends a request. Its own retries are safe, because they have the same
// caller ID: the caller ID of r, or a random one. With a key, it also finds the
// request of an earlier call. If another caller got the answer to that request,
// it returns a [bridge.RepeatedError].
func (c *Client) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	return c.open(ctx, at("interactions"), r, key)
}

// open makes a call that opens a request.
func (c *Client) open(ctx context.Context, path string, r bridge.Request, key string) (bridge.Record, error) {
	id := r.CallID
	id.Key = key
	header := identified(id)
	if c.Doubts != nil {
		r.Doubts = append(r.Doubts, c.Doubts(r)...)
	}
	doubted(header, r.Doubts)
	o := call{method: http.MethodPost, path: path, header: header, body: r, again: true}
	if r.Now {
		o.query = url.Values{"now": {"true"}}
	}
	return c.record(ctx, "", o)
}

// identified returns the headers that identify a call.
func identified(id bridge.CallID) http.Header {
	h := http.Header{}
	for name, v := range map[string]string{
		"Nod-Caller": cmp.Or(id.Caller, uuid.NewString()), "Nod-Call": id.ID, "Nod-Connection": id.Connection, "Idempotency-Key": id.Key,
	} {
		if v != "" {
			h.Set(name, v)
		}
	}
	return h
}

// doubted adds the header for doubts.
func doubted(h http.Header, doubts []string) {
	if len(doubts) > 0 {
		h.Set("Nod-Doubt", strings.Join(doubts, "; "))
	}
}

// Wait returns when the request is resolved or deferred. It retries after
// dropped connections until ctx ends or the daemon has been unreachable for two
// minutes.
func (c *Client) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return c.wait(ctx, id, nil)
}

func (c *Client) wait(ctx context.Context, id bridge.ID, header http.Header) (rec bridge.Record, err error) {
	err = c.poll(ctx, c.window(), func(ctx context.Context, wait string) (done bool, err error) {
		rec, err = c.record(ctx, id, call{
			method: http.MethodGet, path: at("interactions", string(id)), query: url.Values{"wait": {wait}}, header: header,
		})
		return rec.Over(), err
	})
	return rec, err
}

// Get returns a request.
func (c *Client) Get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return c.record(ctx, id, call{method: http.MethodGet, path: at("interactions", string(id))})
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
	page, err := result[bridge.List](ctx, c, call{method: http.MethodGet, path: at("interactions"), query: q})
	if err == nil && page.Items == nil {
		err = foreign()
	}
	for _, rec := range page.Items {
		if err == nil {
			err = whole(rec, "")
		}
	}
	return page, err
}

// Respond responds as the person who owns the client's token.
func (c *Client) Respond(ctx context.Context, id bridge.ID, a bridge.Reply) (bridge.Recorded, error) {
	got, err := result[bridge.Recorded](ctx, c, call{method: http.MethodPost, path: at("interactions", string(id), "response"), body: a})
	if err == nil && (got.ID != id || !slices.Contains(bridge.States, got.State)) {
		err = foreign()
	}
	return got, err
}

// Reprompt sends a follow-up, which replaces a request in its messages. Retries
// and a key have the same effect as in Open.
func (c *Client) Reprompt(ctx context.Context, id bridge.ID, r bridge.Request, key string) (bridge.Record, error) {
	return c.open(ctx, at("interactions", string(id), "reprompt"), r, key)
}

// Queue defers a request, so that the agent can continue. A late answer becomes
// a message of the session.
func (c *Client) Queue(ctx context.Context, id bridge.ID, hold bridge.Duration, message string) (bridge.Record, error) {
	body := struct {
		Hold    bridge.Duration `json:"hold,omitempty"`
		Message string          `json:"message,omitempty"`
	}{hold, message}
	return result[bridge.Record](ctx, c, call{method: http.MethodPost, path: at("interactions", string(id), "pending"), body: body})
}

// Complete reports the result of acting on a response.
func (c *Client) Complete(ctx context.Context, id bridge.ID, done bridge.Completion) (bridge.Record, error) {
	return result[bridge.Record](ctx, c, call{method: http.MethodPost, path: at("interactions", string(id), "complete"), body: done, again: true})
}

// Cancel cancels a pending request.
func (c *Client) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	return c.Leave(ctx, id, "", reason)
}

// Leave cancels a pending request for the caller with an ID. The request stays
// open for other callers that share its answer.
func (c *Client) Leave(ctx context.Context, id bridge.ID, caller, reason string) (bridge.Record, error) {
	header := http.Header{}
	if caller != "" {
		header.Set("Nod-Caller", caller)
	}
	return c.record(ctx, id, call{
		method: http.MethodPost, path: at("interactions", string(id), "cancel"), header: header, body: because(reason), again: true,
	})
}

// because returns the body of a call with a reason.
func because(reason string) map[string]string { return map[string]string{"reason": reason} }
