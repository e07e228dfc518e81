// Package console serves the web console: pending and closed requests,
// sessions, grants, evidence and health, and the pages on which people sign
// approvals. A person who has signed in is a responder under the same rules as
// in chat. The page needs no build step: the files in static are served
// unchanged.
//
// This package uses the principals and readers of bridge/api, and makes no
// decisions: those belong to bridge/rooms and below. Start with console.go, and
// with sign.go for passkeys.
package console

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
)

//go:embed static
var static embed.FS

const maxBody = 1 << 20

// Options configures a Console.
type Options struct {
	Engine *rooms.House
	// Tokens maps the hex SHA-256 of each token to its owner. People sign in
	// with their tokens.
	Tokens map[string]api.Principal
	// Key signs sessions. All daemons share it.
	Key []byte
	// Secure means that browsers reach the console by HTTPS.
	Secure bool
	// If OIDC is nil, people can sign in with their tokens only.
	OIDC *OIDC
	// Store records the open sessions, so that signing out ends a session for
	// every copy of its cookie.
	Store Store
	// Failed records a failed attempt to sign in, and returns how long the sender
	// has to wait before its next one. A nil func means no limit.
	Failed func(*http.Request) time.Duration
	Log    *slog.Logger
}

// Store stores short texts that all daemons share. documents.Notes implements
// it.
type Store interface {
	PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error)
	Note(ctx context.Context, key string) (string, error)
	DropNote(ctx context.Context, key string) error
}

// Console is an http.Handler for all paths under /console/ and /sign/. It is safe for
// concurrent use.
type Console struct {
	engine   *rooms.House
	sessions sessions
	oidc     *OIDC
	log      *slog.Logger
	mux      *http.ServeMux
	failed   func(*http.Request) time.Duration
	foreign  *http.CrossOriginProtection
}

// New returns a console.
func New(o Options) *Console {
	c := &Console{
		engine:   o.Engine,
		sessions: sessions{key: o.Key, tokens: o.Tokens, secure: o.Secure, oidc: o.OIDC, store: o.Store, log: o.Log},
		oidc:     o.OIDC, log: o.Log, mux: http.NewServeMux(), failed: o.Failed,
		foreign: http.NewCrossOriginProtection(),
	}
	if c.failed == nil {
		c.failed = func(*http.Request) time.Duration { return 0 }
	}
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic("console: " + err.Error()) // static is embedded
	}
	c.mux.Handle("GET /console/", http.StripPrefix("/console/", http.FileServerFS(files)))
	c.mux.HandleFunc("GET /console/session", c.who)
	c.mux.HandleFunc("POST /console/login", c.login)
	c.mux.HandleFunc("POST /console/logout", c.logout)
	c.mux.HandleFunc("GET /console/oidc", c.oidcStart)
	c.mux.HandleFunc("GET /console/oidc/callback", c.oidcDone)
	c.mux.HandleFunc("GET /console/cards/{id}", c.person(c.card))
	c.mux.HandleFunc("POST /console/cards/{id}", c.person(c.answer))
	c.mux.HandleFunc("POST /console/answers", c.person(c.answers))
	c.mux.HandleFunc("GET /console/inbox", c.person(c.inbox))
	c.mux.HandleFunc("GET /console/history", c.person(c.history))
	c.mux.HandleFunc("GET /console/audit", c.person(c.audit))
	c.mux.HandleFunc("POST /console/audit/verify", c.person(c.verifyAudit))
	c.mux.HandleFunc("POST /console/receipts", c.person(c.verifyReceipt))
	c.passkeyRoutes()
	c.mux.HandleFunc("GET "+passkeys.SignPath+"{secret}", c.signing)
	c.mux.HandleFunc("POST "+passkeys.SignPath+"{secret}", c.sign)
	return c
}

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if err := c.foreign.Check(r); err != nil {
		fail(w, bridge.Errorf(bridge.CodeForbidden, "this request does not come from nod's own page"))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	c.mux.ServeHTTP(w, r)
}

// Principal returns the person whose console session a call to the API
// contains. It accepts reads, and accepts changes only from nod's own page. It
// returns CodeUnauthenticated without a session, and CodeUnavailable if it
// cannot check the session now.
func (c *Console) Principal(r *http.Request) (api.Principal, error) {
	if c.foreign.Check(r) != nil {
		return api.Principal{}, bridge.Errorf(bridge.CodeUnauthenticated, "this request does not come from nod's own page")
	}
	return c.sessions.of(r)
}

// pageVersion returns a hash of the files of the page, so that a page that was
// loaded before an upgrade can notice it.
var pageVersion = sync.OnceValue(func() string {
	h := sha256.New()
	_ = fs.WalkDir(static, ".", func(path string, d fs.DirEntry, err error) error { // static is embedded
		if err == nil && !d.IsDir() {
			raw, _ := static.ReadFile(path)
			h.Write(raw)
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:8])
})

type handler func(w http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error)

// person returns a handler that requires a signed-in person.
func (c *Console) person(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := c.sessions.of(r)
		if err != nil {
			fail(w, err)
			return
		}
		out, err := h(w, r, bridge.Actor{Platform: bridge.PlatformAPI, User: p.Person, Name: p.Person, Person: p.Person})
		if err != nil {
			if code := bridge.ErrorCode(err); code == bridge.CodeInternal || code == bridge.CodeUnavailable {
				c.log.Error("console", "path", r.URL.Path, "error", err)
			}
			fail(w, err)
			return
		}
		write(w, http.StatusOK, out)
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the browser may have disconnected
}

// guessed records the error of a caller that may have guessed a secret: a
// token, an invitation or a ticket. It returns the error, or CodeRateLimited
// after too many such errors. A caller with a valid secret is never refused, so
// no one can lock people out.
func (c *Console) guessed(r *http.Request, err error) error {
	if code := bridge.ErrorCode(err); code != bridge.CodeNotFound && code != bridge.CodeUnauthenticated {
		return err
	}
	if wait := c.failed(r); wait > 0 {
		return tooMany(wait)
	}
	return err
}

func tooMany(wait time.Duration) error {
	e := bridge.Errorf(bridge.CodeRateLimited, "too many failed attempts to sign in; try again in %s", wait.Round(time.Second)+time.Second)
	e.RetryAfter = wait
	return e
}

func fail(w http.ResponseWriter, err error) {
	e := bridge.PublicError(err)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	write(w, e.Code.HTTPStatus(), map[string]any{"error": e})
}

// read decodes a JSON body.
func read(r *http.Request, v any) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "the body cannot be read")
	}
	return bridge.DecodeBody(raw, v)
}

// oidcTimeout limits the calls to the identity provider.
const oidcTimeout = 8 * time.Second

func bounded(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), oidcTimeout)
}
