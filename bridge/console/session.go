package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
)

const (
	sessionCookie = "nod_session"
	sessionLife   = 12 * time.Hour // one working day
)

// sessions opens, checks and ends sessions. The browser keeps a session in a
// signed cookie, and the store records that it is open. A session ends when its
// record is deleted, or when its token or its person is removed from the config.
type sessions struct {
	store  Store
	log    *slog.Logger
	key    []byte
	tokens map[string]api.Principal
	secure bool
	oidc   *OIDC
}

// session is the content of the cookie. By is the hash of the token, or the
// issuer.
type session struct {
	ID      string `json:"i"`
	Person  string `json:"p"`
	By      string `json:"b"`
	Expires int64  `json:"e"` // Unix seconds
}

// noteKey returns the key under which the store records a session. The ID is
// the browser's secret, so the key holds its hash.
func noteKey(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "console:" + hex.EncodeToString(sum[:])
}

// sign returns a value as signed text for one purpose.
func sign(key []byte, purpose string, v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + base64.RawURLEncoding.EncodeToString(mac(key, purpose, raw)), nil
}

func mac(key []byte, purpose string, raw []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("nod console " + purpose + "\x00"))
	m.Write(raw)
	return m.Sum(nil)
}

// verify decodes text that sign returned. It returns false for any other text.
func verify(key []byte, purpose, text string, v any) bool {
	for n := range text {
		if text[n] != '.' {
			continue
		}
		raw, err := base64.RawURLEncoding.Strict().DecodeString(text[:n])
		sum, serr := base64.RawURLEncoding.Strict().DecodeString(text[n+1:])
		return err == nil && serr == nil && hmac.Equal(sum, mac(key, purpose, raw)) && json.Unmarshal(raw, v) == nil
	}
	return false
}

// of returns the person whose session a request carries. It returns
// CodeUnauthenticated without a session, and CodeUnavailable if it cannot check
// the session now.
func (s sessions) of(r *http.Request) (api.Principal, error) {
	nobody := bridge.Errorf(bridge.CodeUnauthenticated, "you are not signed in")
	x, ok := s.signed(r)
	if !ok {
		return api.Principal{}, nobody
	}
	noted, err := s.store.Note(r.Context(), noteKey(x.ID))
	if err != nil {
		s.log.Error("console session cannot be read", "error", err)
		return api.Principal{}, bridge.Wrap(bridge.CodeUnavailable, err, "nod cannot read your session now").WithHint("try again")
	}
	p := s.tokens[x.By]
	if s.oidc != nil && x.By == s.oidc.Issuer {
		known, ok := s.oidc.People[x.Person]
		if p = (api.Principal{Auditor: known.Auditor}); ok {
			p.Person = x.Person
		}
	}
	if noted != x.Person || p.Person != x.Person {
		return api.Principal{}, nobody
	}
	return p, nil
}

// signed returns the session in a request's cookie.
func (s sessions) signed(r *http.Request) (session, bool) {
	var x session
	cookie, err := r.Cookie(s.named(sessionCookie))
	if err != nil || !verify(s.key, "session", cookie.Value, &x) || x.ID == "" || time.Now().Unix() >= x.Expires {
		return session{}, false
	}
	return x, true
}

func (s sessions) start(ctx context.Context, w http.ResponseWriter, person, by string) error {
	x := session{rand.Text(), person, by, time.Now().Add(sessionLife).Unix()}
	text, err := sign(s.key, "session", x)
	if err != nil {
		return err
	}
	if _, err := s.store.PutNote(ctx, noteKey(x.ID), person, sessionLife); err != nil {
		return err
	}
	http.SetCookie(w, s.cookie(sessionCookie, text, sessionLife))
	return nil
}

// end ends the session of a request for every copy of its cookie.
func (s sessions) end(r *http.Request) error {
	x, ok := s.signed(r)
	if !ok {
		return nil
	}
	return s.store.DropNote(r.Context(), noteKey(x.ID))
}

// named returns the name of a cookie of this installation. Other installations
// may use another port of the same host, and browsers share cookies between
// ports.
func (s sessions) named(name string) string {
	return name + "_" + hex.EncodeToString(mac(s.key, "cookies", nil)[:4])
}

// cookie returns a cookie that browsers send to nod's pages only. SameSite is
// Lax so that the redirect from the identity provider carries it. Changes from
// other pages are refused separately.
func (s sessions) cookie(name, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{Name: s.named(name), Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode}
}

func (c *Console) who(w http.ResponseWriter, r *http.Request) {
	p, err := c.sessions.of(r)
	out := map[string]any{"oidc": c.oidc != nil, "version": pageVersion()}
	switch {
	case err == nil:
		out["person"], out["auditor"] = p.Person, p.Auditor
	case bridge.ErrorCode(err) != bridge.CodeUnauthenticated:
		fail(w, err)
		return
	}
	if cookie, err := r.Cookie(c.sessions.named(refusedCookie)); err == nil {
		var why string
		if verify(c.sessions.key, "refusal", cookie.Value, &why) {
			out["refused"] = why
		}
	}
	write(w, http.StatusOK, out)
}

func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
	}
	if err := read(r, &in); err != nil {
		fail(w, err)
		return
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(in.Token)))
	hash := hex.EncodeToString(sum[:])
	p, ok := c.sessions.tokens[hash]
	if !ok || p.Person == "" {
		c.log.Warn("console sign-in refused", "from", r.RemoteAddr)
		fail(w, c.guessed(r, bridge.Errorf(bridge.CodeUnauthenticated, "the token does not belong to a person").
			WithHint("sign in with the token of a person in the config; agents cannot sign in")))
		return
	}
	if err := c.sessions.start(r.Context(), w, p.Person, hash); err != nil {
		fail(w, err)
		return
	}
	c.log.Info("console sign-in", "person", p.Person)
	write(w, http.StatusOK, map[string]any{"person": p.Person})
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if err := c.sessions.end(r); err != nil {
		c.log.Error("console sign-out failed", "error", err)
		fail(w, err) // keep the cookie, so that the person can try again
		return
	}
	http.SetCookie(w, c.sessions.cookie(sessionCookie, "", -time.Second))
	write(w, http.StatusOK, map[string]any{})
}
