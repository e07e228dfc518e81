package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
)

const (
	sessionCookie = "nod_session"
	sessionLife   = 12 * time.Hour // a working day; then one logs in again
)

// sessions are kept by the browser, signed. One ends when its token is no longer
// in the config, or its person.
type sessions struct {
	key    []byte
	tokens map[string]api.Principal
	secure bool
	oidc   *OIDC
}

// session is what the cookie says. By is the hash of the token, or the issuer.
type session struct {
	Person  string `json:"p"`
	By      string `json:"b"`
	Expires int64  `json:"e"` // Unix seconds
}

// sign makes a text of a value, for one purpose.
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

// verify reads what sign made; false for anything else.
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

// of is who a request belongs to.
func (s sessions) of(r *http.Request) (api.Principal, bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return api.Principal{}, false
	}
	var x session
	if !verify(s.key, "session", cookie.Value, &x) || time.Now().Unix() >= x.Expires {
		return api.Principal{}, false
	}
	if s.oidc != nil && x.By == s.oidc.Issuer {
		p, ok := s.oidc.People[x.Person]
		return api.Principal{Person: x.Person, Auditor: p.Auditor}, ok
	}
	p, ok := s.tokens[x.By]
	return p, ok && p.Person == x.Person
}

func (s sessions) start(w http.ResponseWriter, person, by string) error {
	text, err := sign(s.key, "session", session{person, by, time.Now().Add(sessionLife).Unix()})
	if err != nil {
		return err
	}
	http.SetCookie(w, s.cookie(sessionCookie, text, sessionLife))
	return nil
}

// cookie is for nod's pages alone. Lax, so that the identity provider's
// redirect brings it back; changes from other pages are refused apart from it.
func (s sessions) cookie(name, value string, life time.Duration) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode}
}

func (c *Console) who(w http.ResponseWriter, r *http.Request) {
	p, ok := c.sessions.of(r)
	out := map[string]any{"oidc": c.oidc != nil}
	if ok {
		out["person"] = p.Person
	}
	if cookie, err := r.Cookie(refusedCookie); err == nil {
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
	sum := sha256.Sum256([]byte(in.Token))
	hash := hex.EncodeToString(sum[:])
	p, ok := c.sessions.tokens[hash]
	if !ok || p.Person == "" {
		c.log.Warn("console login refused", "from", r.RemoteAddr)
		fail(w, bridge.Errorf(bridge.CodeUnauthenticated, "that is no person's token").WithHint("use the token of a person in the config; an agent's does not answer"))
		return
	}
	if err := c.sessions.start(w, p.Person, hash); err != nil {
		fail(w, err)
		return
	}
	c.log.Info("console login", "person", p.Person)
	write(w, http.StatusOK, map[string]any{"person": p.Person})
}

func (c *Console) logout(w http.ResponseWriter, _ *http.Request) {
	http.SetCookie(w, c.sessions.cookie(sessionCookie, "", -time.Second))
	write(w, http.StatusOK, map[string]any{})
}
