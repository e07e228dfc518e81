package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP holds the data that calls over HTTP share, regardless of the handler
// that they reach: their servers, and the calls that a notification can cancel.
// The zero value is ready to use.
type HTTP struct {
	// servers caches the servers by kind. Building a server encodes the schemas
	// of all tools, which takes longer than a call. Calls therefore share
	// servers, and the context of a call contains its options.
	servers sync.Map // of *mcp.Server
	calls   waiting
	held    held
}

// kind holds the options that determine the tools and the description of a
// server.
type kind struct {
	claude, inbox bool
	version       string
}

// callKey is the context key of a call's *server.
type callKey struct{}

// perCall adds the options of a call to its context.
func (h *HTTP) perCall(find func(*http.Request) (Options, bool), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, ok := find(r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
		defer cancel(nil)
		defer context.AfterFunc(r.Context(), func() { cancel(ofClosed(r)) })()
		done, isCall := h.calls.note(r, raw, cancel)
		defer done()
		s := newServer(o)
		s.hangup, s.held = ctx, &h.held
		stream, end := context.WithCancel(context.WithValue(r.Context(), callKey{}, s))
		defer end()
		if o.Closing != nil && !isCall { // a call has a result, which the stream must still carry
			defer context.AfterFunc(o.Closing, end)()
		}
		next.ServeHTTP(w, r.WithContext(stream))
	})
}

// ofClosed returns the cause for a call whose connection was closed. Since
// protocol version 2026-07-28, a client cancels a call in this way
// (modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation).
// In older versions, a closed connection has no meaning, and the client may
// find the request again.
func ofClosed(r *http.Request) error {
	if r.Header.Get("Mcp-Protocol-Version") >= closesToCancel {
		return clientCancelled
	}
	return context.Cause(r.Context())
}

const closesToCancel = "2026-07-28"

// waiting holds the calls that a notification can cancel. The zero value is ready
// to use.
type waiting struct {
	mu  sync.Mutex
	all map[string][]*context.CancelCauseFunc
}

// note records a call until the returned function is called, and reports
// whether the message is a call. If the message is a cancellation, it cancels
// the call. Callers with the same token can use the same ID at the same time.
// The cancellation then applies to none of them.
func (c *waiting) note(r *http.Request, raw []byte, cancel context.CancelCauseFunc) (done func(), isCall bool) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			ID     json.RawMessage `json:"requestId"`
			Reason string          `json:"reason"`
		} `json:"params"`
	}
	done = func() {}
	if json.Unmarshal(raw, &m) != nil { // the SDK refuses an invalid message
		return done, false
	}
	key := func(id json.RawMessage) string {
		return r.Header.Get("Authorization") + "\n" + r.Header.Get("Mcp-Session-Id") + "\n" + r.URL.RawQuery + "\n" + string(id)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Method {
	case "tools/call":
		if c.all == nil {
			c.all = map[string][]*context.CancelCauseFunc{}
		}
		k, own := key(m.ID), &cancel
		c.all[k] = append(c.all[k], own)
		return func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.all[k] = slices.DeleteFunc(c.all[k], func(x *context.CancelCauseFunc) bool { return x == own })
			if len(c.all[k]) == 0 {
				delete(c.all, k)
			}
		}, true
	case "notifications/cancelled":
		if found := c.all[key(m.Params.ID)]; len(found) == 1 {
			(*found[0])(cancelledFor(m.Params.Reason))
		}
	}
	return done, false
}

// at returns the state of the call with the context ctx. For a server with a
// single client, this is s.
func (s *server) at(ctx context.Context) *server {
	if own, ok := ctx.Value(callKey{}).(*server); ok {
		return own
	}
	return s
}

// server returns the server for a call over HTTP. It returns nil for a call without
// options.
func (h *HTTP) server(r *http.Request) *mcp.Server {
	s, ok := r.Context().Value(callKey{}).(*server)
	if !ok {
		return nil
	}
	k := kind{s.Claude, s.Inbox != nil, s.Version}
	m, known := h.servers.Load(k)
	if !known {
		plain := &server{Options: Options{Claude: k.claude, Version: k.version}, log: slog.New(slog.DiscardHandler)}
		m, _ = h.servers.LoadOrStore(k, plain.build(k.inbox))
	}
	return m.(*mcp.Server) //nolint:forcetypeassert // the map holds nothing else
}
