package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// servers holds the servers for calls over HTTP, by kind. Building one encodes
// the schemas of all tools, which takes longer than a call. So calls share them,
// and the context of a call has its options.
var servers sync.Map // of *mcp.Server

// kind holds the options that determine which tools a server has, and what it
// tells of itself.
type kind struct {
	claude, inbox bool
	version       string
}

// callKey is the key of the *server of a call in its context.
type callKey struct{}

// perCall adds the options of a call to its context.
func perCall(find func(*http.Request) (Options, bool), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o, ok := find(r); ok {
			o.Hangup = r.Context()
			r = r.WithContext(context.WithValue(r.Context(), callKey{}, newServer(o)))
		}
		next.ServeHTTP(w, r)
	})
}

// at returns the state of the call whose context ctx is. It is s for a server of
// its own.
func (s *server) at(ctx context.Context) *server {
	if own, ok := ctx.Value(callKey{}).(*server); ok {
		return own
	}
	return s
}

// sharedServer returns the server for a call over HTTP. It returns nil for a call
// without options.
func sharedServer(r *http.Request) *mcp.Server {
	s, ok := r.Context().Value(callKey{}).(*server)
	if !ok {
		return nil
	}
	k := kind{s.Claude, s.Inbox != nil, s.Version}
	m, known := servers.Load(k)
	if !known {
		plain := &server{Options: Options{Claude: k.claude, Version: k.version}, log: slog.New(slog.DiscardHandler)}
		m, _ = servers.LoadOrStore(k, plain.build(k.inbox))
	}
	return m.(*mcp.Server) //nolint:forcetypeassert // the map holds nothing else
}
