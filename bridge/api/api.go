// Package api is nod's HTTP entry point: JSON requests and responses,
// server-sent events and a WebSocket. The file openapi.yaml in this directory
// describes every path and is served at /openapi.yaml.
//
// This package handles transport: authentication, limits, decoding, waiting and
// streaming. Rules about requests belong to the engine, and formats of other
// systems to bridge/dialect.
package api

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

//go:embed openapi.yaml
var openAPI []byte

const (
	// maxBody is the size limit of a body in bytes. A request holds at most
	// MaxPrompt and MaxInput bytes, plus its options.
	maxBody = 1 << 20
	// bodyTimeout is how long a caller may take to send its request.
	bodyTimeout = 30 * time.Second
	// maxWait limits the wait of one call. Callers that want to wait longer
	// call again.
	maxWait = 10 * time.Minute
	// abandonTimeout limits a cancellation that no caller waits for.
	abandonTimeout = 5 * time.Second
)

// Reader holds the store methods that the API needs to list requests, stream
// events and check the store's health.
type Reader interface {
	List(context.Context, bridge.ListFilter) (bridge.List, error)
	Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error)
	Cursor(context.Context) (string, error)
	CursorAt(time.Time) string
	Ping(context.Context) error
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
	Engine *engine.Engine
	Reader Reader
	// Tokens maps the hex SHA-256 of each bearer token to its owner. If it is
	// empty, no token is valid.
	Tokens map[string]Principal
	// Session returns the principal of a caller that has a console session but
	// no token. If it is nil, every caller needs a token.
	Session func(*http.Request) (Principal, bool)
	// Closing is done when the daemon stops, which ends long waits early.
	Closing context.Context
	// EntryPoints maps paths to additional entry points for agents.
	EntryPoints map[string]EntryPoint
	// Redact replaces credentials in error messages. A nil Redact leaves them
	// unchanged.
	Redact func(string) string
	// Keys returns the health of the signing keys. If it is nil, /healthz does
	// not report it.
	Keys func() bridge.Health
	// Proven, if not nil, is called for each request with a valid token.
	Proven func(*http.Request)
	// Refused, if not nil, is called for each request without a valid token. It
	// returns how long the sender has to wait before it tries again; zero means
	// that the sender does not have to wait.
	Refused func(*http.Request) time.Duration
	Log     *slog.Logger
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	engine  *engine.Engine
	reader  Reader
	tokens  map[string]Principal
	session func(*http.Request) (Principal, bool)
	closing context.Context
	log     *slog.Logger
	redact  func(string) string
	keysOK  func() bridge.Health
	proven  func(*http.Request)
	refused func(*http.Request) time.Duration
	mux     *http.ServeMux
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{engine: o.Engine, reader: verifiedReader{o.Reader, o.Engine}, tokens: maps.Clone(o.Tokens), session: o.Session, closing: o.Closing, log: o.Log, keysOK: o.Keys, proven: o.Proven, refused: o.Refused, mux: http.NewServeMux()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.redact = o.Redact; s.redact == nil {
		s.redact = func(text string) string { return text }
	}
	if s.closing == nil {
		s.closing = context.Background()
	}
	for pattern, h := range s.routes() {
		s.mux.HandleFunc(pattern, h)
	}
	for path, entry := range o.EntryPoints {
		s.mux.HandleFunc(path, s.agent(s.through(entry)))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, bridge.Errorf(bridge.CodeNotFound, "path not found").WithHint("see /openapi.yaml for all paths"))
	})
	return s
}

func (s *Server) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"POST /v1/interactions":               s.agent(s.create),
		"GET /v1/interactions":                s.anybody(s.list),
		"GET /v1/interactions/{id}":           s.anybody(s.get),
		"POST /v1/interactions/{id}/response": s.person(s.respond),
		"POST /v1/interactions/{id}/cancel":   s.anybody(s.cancel),
		"POST /v1/interactions/{id}/complete": s.agent(s.complete),
		"POST /v1/interactions/{id}/reprompt": s.agent(s.reprompt),
		"POST /v1/interactions/{id}/pending":  s.agent(s.pending),

		"POST /v1/sessions/{id}/cancel":       s.agent(s.cancelSession),
		"GET /v1/sessions/{id}/messages":      s.agent(s.messages),
		"POST /v1/sessions/{id}/messages/ack": s.agent(s.acknowledge),
		"GET /v1/availability":                s.agent(s.availability),

		"POST /v1/approvals/recall":   s.agent(s.recall),
		"PUT /v1/approvals":           s.agent(s.remember),
		"DELETE /v1/approvals":        s.agent(s.forget),
		"PUT /v1/channels/mode":       s.person(s.channelMode),
		"POST /v1/dialects/{dialect}": s.agent(s.dialect),
		"POST /v1/hooks/{agent}":      s.agent(s.hook),
		"POST /v1/tools/ui.ask_user":  s.agent(s.askUser),

		"GET /v1/grants":         s.anybody(s.grants),
		"DELETE /v1/grants/{id}": s.anybody(s.revoke),

		"POST /v1/links":                   s.person(s.link),
		"GET /v1/links":                    s.person(s.links),
		"DELETE /v1/links/{platform}/{id}": s.person(s.unlink),

		"GET /v1/audit": s.person(s.audit),
		"GET /v1/keys":  s.keys,

		"GET /v1/events": s.anybody(s.events),
		"GET /v1/ws":     s.anybody(s.websocket),

		"GET /healthz":      s.healthz,
		"GET /readyz":       s.readyz,
		"GET /openapi.yaml": s.description,
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.mux.ServeHTTP(w, r)
}

// requestRead removes the read deadline once the body is read, because the
// connection stays open while the caller waits. The ResponseWriters of tests do
// not support deadlines, so the error is ignored.
func requestRead(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

type handler func(w http.ResponseWriter, r *http.Request, p Principal) error

func (s *Server) anybody(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tokenFromProtocol(r)
		kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// The lookup uses the hash, so its timing reveals nothing about a
		// token.
		sum := sha256.Sum256([]byte(token))
		p, ok := s.tokens[hex.EncodeToString(sum[:])]
		if ok = ok && strings.EqualFold(kind, "bearer"); !ok && kind == "" && s.session != nil {
			p, ok = s.session(r)
		}
		if !ok {
			s.refuse(w, r)
			return
		}
		// The body has to arrive within bodyTimeout, although the response may
		// take much longer. The ResponseWriters of tests do not support
		// deadlines, so the error is ignored.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
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
	fail(w, bridge.Errorf(bridge.CodeUnauthenticated, "a valid token is required").WithHint("send Authorization: Bearer TOKEN with the token of an agent or person in the config"))
}

func (s *Server) agent(h handler) http.HandlerFunc {
	return s.anybody(func(w http.ResponseWriter, r *http.Request, p Principal) error {
		if p.Agent == nil {
			return bridge.Errorf(bridge.CodeForbidden, "this call requires an agent's token, but the token belongs to a person")
		}
		return h(w, r, p)
	})
}

func (s *Server) person(h handler) http.HandlerFunc {
	return s.anybody(func(w http.ResponseWriter, r *http.Request, p Principal) error {
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
	if code := bridge.ErrorCode(err); code == bridge.CodeInternal || code == bridge.CodeUnavailable {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	e := bridge.PublicError(err)
	e.Message, e.Hint = s.redact(e.Message), s.redact(e.Hint)
	fail(w, e)
}

// waiting returns how long a call waits. Zero means that it does not wait.
func waiting(r *http.Request) (time.Duration, error) {
	v := r.URL.Query().Get("wait")
	if v == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if n, nerr := strconv.ParseFloat(v, 64); nerr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d < 0 {
		return 0, bridge.Errorf(bridge.CodeInvalid, "wait: invalid duration %q (such as 30s)", v)
	}
	return min(d, maxWait), nil
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	var req bridge.Request
	if err := read(r, &req); err != nil {
		return err
	}
	req.Awaited = wait > 0
	rec, err := s.engine.Open(r.Context(), *p.Agent, req, r.Header.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/interactions/"+string(rec.Interaction.ID))
	return s.deliver(w, r, http.StatusCreated, rec, p, wait)
}

// deliver responds with a record when it is final or the wait is over, and
// notes that the record has reached its agent.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, status int, rec bridge.Record, p Principal, wait time.Duration) error {
	if !rec.Over() && wait > 0 {
		requestRead(w)
		ctx, cancel := s.waitContext(r.Context(), wait)
		defer cancel()
		final, err := s.engine.Await(ctx, rec.Interaction.ID)
		switch {
		case err == nil:
			rec = final
		case r.Context().Err() != nil:
			s.abandoned(rec)
			return nil // the caller has disconnected
		case ctx.Err() == nil:
			return err
		}
	}
	if err := write(w, status, rec); err != nil {
		return nil // not delivered
	}
	if err := http.NewResponseController(w).Flush(); err != nil || p.Agent == nil || p.Agent.Name != rec.Interaction.Agent {
		return nil
	}
	s.noteDelivered(r.Context(), rec)
	return nil
}

// waitContext returns a context that ends after wait or when the server stops.
func (s *Server) waitContext(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() { stop(); cancel() }
}

// noteDelivered notes that a record has reached its agent.
func (s *Server) noteDelivered(ctx context.Context, rec bridge.Record) {
	if err := s.engine.Delivered(context.WithoutCancel(ctx), rec); err != nil {
		s.log.Warn("delivery not recorded", "id", rec.Interaction.ID, "error", err)
	}
}

// abandoned is called when a caller that waits for a request disconnects. The
// request stays pending unless it was sent with the option to cancel it on
// disconnect.
func (s *Server) abandoned(rec bridge.Record) {
	if !rec.Interaction.CancelOnDisconnect || s.closing.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), abandonTimeout)
	defer cancel()
	if _, err := s.engine.Cancel(ctx, rec.Interaction.ID, "the agent disconnected"); err != nil {
		s.log.Warn("abandoned interaction not cancelled", "id", rec.Interaction.ID, "error", err)
	}
}

// load returns a record that the caller may see. Agents see their own requests;
// mayRead decides for people.
func (s *Server) load(r *http.Request, p Principal) (bridge.Record, error) {
	id, err := bridge.ParseID(r.PathValue("id"))
	if err != nil {
		return bridge.Record{}, err
	}
	look := s.engine.Get
	if p.Agent == nil {
		// People see the stored record even if its evidence does not verify.
		look = s.engine.Evidence.Show
	}
	rec, err := look(r.Context(), id)
	if rec.Interaction.ID != "" && p.Agent != nil && rec.Interaction.Agent != p.Agent.Name {
		return bridge.Record{}, notFound(id)
	}
	if err == nil {
		err = s.readable(r.Context(), p, rec)
	}
	if err != nil {
		return bridge.Record{}, err
	}
	return rec, nil
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	rec, err := s.load(r, p)
	if err != nil {
		return err
	}
	return s.deliver(w, r, http.StatusOK, rec, p, wait)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, p Principal) error {
	q := r.URL.Query()
	f := bridge.ListFilter{State: bridge.State(q.Get("state")), Session: q.Get("session"), Text: q.Get("text"), Cursor: q.Get("cursor")}
	states := []bridge.State{"", bridge.StatePending, bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied, bridge.StateExpired, bridge.StateCancelled, bridge.StateSuperseded, bridge.StateUndeliverable}
	if !slices.Contains(states, f.State) {
		return bridge.Errorf(bridge.CodeInvalid, "state: unknown state %q", f.State)
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 200 {
			return bridge.Errorf(bridge.CodeInvalid, "limit: %q is out of range (1 to 200)", v)
		}
		f.Limit = n
	}
	f.AsStored = p.Agent == nil
	if p.Agent != nil {
		f.Agent = p.Agent.Name
	}
	page, err := s.listReadable(r.Context(), p, f)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, page)
}

func (s *Server) respond(w http.ResponseWriter, r *http.Request, p Principal) error {
	var a bridge.Reply
	if err := read(r, &a); err != nil {
		return err
	}
	id, err := bridge.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := s.load(r, p); err != nil {
		return err
	}
	rec, err := s.engine.Answer(r.Context(), id, p.actor(), a)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, rec)
}

func (s *Server) description(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI) // the caller may have disconnected
}
