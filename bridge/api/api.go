// Package api is nod's HTTP entry point: JSON requests and responses, server-
// sent events and a WebSocket. It authenticates, limits, decodes, waits and
// streams. Rules about requests belong to bridge/rooms and below, and formats
// of other systems to bridge/dialect. The file openapi.yaml in this directory
// describes every path, and is served at /openapi.yaml. Start with requests.go.
package api

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/bridge/timespan"
)

//go:embed openapi.yaml
var openAPI []byte

const (
	// maxBody is the size limit of a body in bytes. A request holds at most
	// MaxPrompt and MaxInput bytes, plus its options.
	maxBody = 1 << 20
	// maxHookBody is the limit for the hooks of agents, whose reports hold the
	// output of tools. nod keeps little of it.
	maxHookBody = 64 << 20
	// bodyTimeout is the time in which a caller must send its request.
	bodyTimeout = 30 * time.Second
	// maxWait limits the wait of one call. Callers that want to wait longer
	// call again.
	maxWait = 10 * time.Minute
	// abandonTimeout limits a cancellation that no caller waits for.
	abandonTimeout = 5 * time.Second
)

// Reader lists requests and reads events. Package history implements it.
type Reader interface {
	List(context.Context, bridge.ListFilter) (bridge.List, error)
	Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error)
	Cursor(context.Context) (string, error)
	CursorAt(time.Time) string
}

// Principal is an authenticated caller: an agent or a person.
type Principal struct {
	Agent  *bridge.Agent
	Person string
	// Auditor means that the person may read the audit log.
	Auditor bool
}

// actor returns the actor for a person who responds through the API.
func (p Principal) actor() bridge.Actor {
	return bridge.Actor{Platform: "api", User: p.Person, Name: p.Person, Person: p.Person}
}

// Options configures a Server.
type Options struct {
	Engine *rooms.House
	Reader Reader
	// Ready returns an error unless the store can store requests and decisions
	// right now.
	Ready func(context.Context) error
	// Tokens maps the hex SHA-256 of each bearer token to its owner. If it is
	// empty, no token is valid.
	Tokens map[string]Principal
	// Session returns the principal of a caller that has a console session but
	// no token. If it is nil, every caller needs a token.
	Session func(*http.Request) (Principal, error)
	// Closing is done when the daemon stops, which ends long waits early.
	Closing context.Context
	// EntryPoints maps paths to additional entry points for agents.
	EntryPoints map[string]EntryPoint
	// Origins are patterns of the other origins whose pages may open a WebSocket.
	Origins []string
	// Redact replaces credentials in error messages. A nil Redact leaves them
	// unchanged.
	Redact func(string) string
	// Keys returns the health of the signing keys. If it is nil, /healthz does
	// not report it.
	Keys func() bridge.Health
	// Proven, if not nil, is called for each request with a valid token.
	Proven func(*http.Request)
	// Refused, if not nil, is called for each request without a valid token. It
	// returns the time for which the sender has to wait before its next
	// attempt. Zero means that the sender does not have to wait.
	Refused func(*http.Request) time.Duration
	// Parked, if not nil, counts the calls in progress that are no longer
	// connections of the http.Server, so that a Shutdown does not wait for them.
	Parked *sync.WaitGroup
	Log    *slog.Logger
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	shared
	tokens  map[[sha256.Size]byte]Principal
	session func(*http.Request) (Principal, error)
	ready   func(context.Context) error
	keysOK  func() bridge.Health
	proven  func(*http.Request)
	refused func(*http.Request) time.Duration
	origins origins
	mux     *http.ServeMux
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{
		shared: shared{o.Engine, requestReader{o.Reader}, newOwners(), o.Closing, o.Parked, o.Redact, o.Log},
		tokens: make(map[[sha256.Size]byte]Principal, len(o.Tokens)), session: o.Session, ready: o.Ready, keysOK: o.Keys, proven: o.Proven, refused: o.Refused, origins: o.Origins,
		mux: http.NewServeMux(),
	}
	for digest, p := range o.Tokens {
		if sum, err := hex.DecodeString(digest); err == nil && len(sum) == sha256.Size {
			s.tokens[[sha256.Size]byte(sum)] = p
		}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.redact == nil {
		s.redact = func(text string) string { return text }
	}
	if s.parked == nil {
		s.parked = new(sync.WaitGroup)
	}
	if s.closing == nil {
		s.closing = context.Background()
	}
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, known(pattern, h))
	}
	for path, entry := range o.EntryPoints {
		s.mux.HandleFunc(path, s.agent(exchanges{s.shared}.through(entry)))
	}
	for _, row := range removed.All(removed.Route) {
		s.mux.HandleFunc(row.Name, func(w http.ResponseWriter, _ *http.Request) {
			fail(w, bridge.Errorf(bridge.CodeNotFound, "%s was removed", row.Name).WithHint("%s", row.Instead))
		})
	}
	s.mux.HandleFunc("/", s.unknownPath)
	return s
}

// routes registers the handlers. Each handler type has one job.
func (s *Server) routes() map[string]http.HandlerFunc {
	requests, sessions := requests{s.shared}, sessions{s.shared}
	streams := streams{s.shared, newAttended(s.closing, s.releaseUnattended), s.origins}
	exchanges, standing, evidence := exchanges{s.shared}, standing{s.shared}, evidence{s.shared}
	status := status{s.shared, s.ready, s.keysOK}
	return map[string]http.HandlerFunc{
		"POST /v1/interactions":               s.agent(requests.create),
		"GET /v1/interactions":                s.anyone(requests.list),
		"GET /v1/interactions/{id}":           s.anyone(requests.get),
		"POST /v1/interactions/{id}/response": s.person(requests.respond),
		"POST /v1/interactions/{id}/cancel":   s.anyone(requests.cancel),
		"POST /v1/interactions/{id}/complete": s.agent(requests.complete),
		"POST /v1/interactions/{id}/reprompt": s.agent(requests.reprompt),
		"POST /v1/interactions/{id}/pending":  s.agent(requests.pending),

		"POST /v1/sessions/{id}/cancel":            s.agent(requests.cancelSession),
		"GET /v1/sessions/{id}/messages":           s.agent(sessions.messages),
		"POST /v1/sessions/{id}/messages/ack":      s.agent(sessions.acknowledge),
		"POST /v1/sessions/{id}/messages":          s.person(sessions.steer),
		"GET /v1/sessions/{id}/messages/{message}": s.person(sessions.steering),
		"GET /v1/sessions":                         s.anyone(sessions.list),
		"POST /v1/sessions/{id}":                   s.agent(sessions.report),
		"POST /v1/sessions/{id}/stop":              s.anyone(sessions.stop),
		"POST /v1/sessions/{id}/resume":            s.person(sessions.resume),
		"GET /v1/availability":                     s.agent(sessions.availability),

		"POST /v1/approvals/recall":   s.agent(sessions.recall),
		"PUT /v1/approvals":           s.agent(sessions.remember),
		"DELETE /v1/approvals":        s.agent(sessions.forget),
		"POST /v1/dialects/{dialect}": s.agent(exchanges.dialect),
		"POST /v1/hooks/{agent}":      s.agent(exchanges.hook),
		"POST /v1/tools/ui.ask_user":  s.agent(exchanges.askUser),

		"GET /v1/grants":         s.anyone(standing.grants),
		"DELETE /v1/grants/{id}": s.anyone(standing.revoke),

		"POST /v1/links":                   s.person(standing.link),
		"GET /v1/links":                    s.person(standing.links),
		"DELETE /v1/links/{platform}/{id}": s.person(standing.unlink),

		"GET /v1/passkeys":                  s.person(standing.passkeys),
		"GET /v1/passkeys/keys":             s.anyone(standing.passkeyKeys),
		"POST /v1/passkeys/invitations":     s.person(standing.invite),
		"DELETE /v1/passkeys/{person}/{id}": s.person(standing.revokePasskey),

		"GET /v1/audit": s.person(evidence.audit),
		"GET /v1/keys":  evidence.keys,

		"GET /v1/events": s.anyone(streams.events),
		"GET /v1/ws":     s.anyone(streams.websocket),

		"GET /healthz":      status.healthz,
		"GET /readyz":       status.readyz,
		"GET /openapi.yaml": s.description,
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Content-Type-Options"], h["Cache-Control"] = noSniff, noStore
	h[bridge.HeaderDaemon] = daemonHeader
	if r.ContentLength != 0 {
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody(r.URL.Path))
	}
	s.mux.ServeHTTP(w, r)
}

// MaxBody returns the size limit of a body for a path, in bytes.
func MaxBody(path string) int64 {
	if strings.HasPrefix(path, "/v1/hooks/") {
		return maxHookBody
	}
	return maxBody
}

// requestRead removes the read deadline after the body is read, because the
// connection stays open while the caller waits. The ResponseWriters of tests do
// not support deadlines, so the error is ignored.
func requestRead(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

type handler func(w http.ResponseWriter, r *http.Request, p Principal) error

func (s *Server) anyone(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tokenFromProtocol(r)
		kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// The lookup uses the hash, so its timing reveals nothing about a
		// token.
		p, ok := s.tokens[sha256.Sum256([]byte(token))]
		if ok = ok && strings.EqualFold(kind, "bearer"); !ok && kind == "" && s.session != nil {
			var err error
			switch p, err = s.session(r); {
			case err == nil:
				ok, r = true, s.whileSession(r, p)
			case bridge.ErrorCode(err) == bridge.CodeUnavailable:
				fail(w, bridge.PublicError(err))
				return
			}
		}
		if !ok {
			s.refuse(w, r)
			return
		}
		// The body has to arrive within bodyTimeout, although the response may
		// take much longer. The ResponseWriters of tests do not support
		// deadlines, so the error is ignored.
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		if s.proven != nil {
			s.proven(r)
		}
		if err := h(w, r, p); err != nil {
			s.report(w, r, err)
		}
	}
}

// refuse rejects a request without a valid token. It does not read the body.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	if s.refused != nil && r.Header.Get("Authorization") != "" {
		if wait := s.refused(r); wait > 0 {
			e := bridge.Errorf(bridge.CodeRateLimited, "too many invalid tokens from this address")
			e.RetryAfter = wait
			fail(w, e)
			return
		}
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="nod"`)
	fail(w, bridge.Errorf(bridge.CodeUnauthenticated, "a valid token is required").WithHint("set NOD_TOKEN, or send Authorization: Bearer TOKEN, with the token of an agent or person in the config"))
}

func (s *Server) agent(h handler) http.HandlerFunc {
	return s.anyone(func(w http.ResponseWriter, r *http.Request, p Principal) error {
		if p.Agent == nil {
			return bridge.Errorf(bridge.CodeForbidden, "this call requires an agent's token, but the token belongs to a person")
		}
		return h(w, r, p)
	})
}

func (s *Server) person(h handler) http.HandlerFunc {
	return s.anyone(func(w http.ResponseWriter, r *http.Request, p Principal) error {
		if p.Person == "" {
			return bridge.Errorf(bridge.CodeForbidden, "this call requires a person's token, but the token belongs to an agent")
		}
		return h(w, r, p)
	})
}

// report responds with an error, and logs errors that the administrator should
// see.
func (s *Server) report(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the caller has disconnected
	}
	s.fail(w, r.Method, r.URL.Path, err)
}

// fail reports an error to a caller that is still connected.
func (s shared) fail(w http.ResponseWriter, method, path string, err error) {
	if code := bridge.ErrorCode(err); code == bridge.CodeInternal || code == bridge.CodeUnavailable {
		s.log.Error("request failed", "method", method, "path", path, "error", err)
	}
	e := bridge.PublicError(err)
	e.Message, e.Hint = s.redact(e.Message), s.redact(e.Hint)
	fail(w, e)
}

// waiting returns the wait time of a call. Zero means that it does not wait.
func waiting(r *http.Request) (time.Duration, error) {
	v := r.URL.Query().Get("wait")
	if v == "" {
		return 0, nil
	}
	d, err := timespan.Parse(v)
	if n, nerr := strconv.ParseFloat(v, 64); nerr == nil && math.Abs(n) < 1e9 {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil {
		return 0, bridge.Errorf(bridge.CodeInvalid, "wait: invalid duration %.50q (such as 30s)", v)
	}
	if d < 0 || d > maxWait {
		return 0, bridge.Errorf(bridge.CodeInvalid, "wait: %s is out of range (0s to 10m)", v).WithHint("repeat the call to wait longer")
	}
	return d, nil
}

func (s *Server) description(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI) // the caller may have disconnected
}
