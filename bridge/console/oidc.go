package console

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/nodbridge/nod/bridge"
)

// OIDC lets people sign in with an identity provider that knows their email
// address.
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	// Callback is the URL of /console/oidc/callback as browsers reach it.
	Callback string
	People   map[string]Person // by name

	mu       sync.Mutex
	provider *oidc.Provider
}

// Person is a person who may sign in if the provider has verified the email
// address.
type Person struct {
	Email   string
	Auditor bool
}

const (
	flowCookie    = "nod_login"
	refusedCookie = "nod_refused" // reason for a failed sign-in
	flowLife      = 10 * time.Minute
)

// flow is the state of a sign-in. The browser keeps it, signed, while the
// person is at the provider.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	To       string `json:"t"` // the page to show afterwards, as a fragment
	Expires  int64  `json:"e"`
}

// discover fetches the provider's URLs and keys. It caches them after the first
// success.
func (o *OIDC) discover(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider == nil {
		p, err := oidc.NewProvider(context.WithoutCancel(ctx), o.Issuer) // the provider keeps the context to fetch keys
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeUnavailable, err, "the identity provider does not respond").WithHint("check console.oidc.issuer")
		}
		o.provider = p
	}
	return o.provider, nil
}

func (o *OIDC) client(p *oidc.Provider) oauth2.Config {
	return oauth2.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: o.Callback, Scopes: []string{oidc.ScopeOpenID, "email"}}
}

func (c *Console) oidcStart(w http.ResponseWriter, r *http.Request) {
	if c.oidc == nil {
		http.NotFound(w, r)
		return
	}
	ctx, cancel := bounded(r)
	defer cancel()
	p, err := c.oidc.discover(ctx)
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	f := flow{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), pageOf(r.FormValue("to")), time.Now().Add(flowLife).Unix()}
	text, err := sign(c.sessions.key, "login", f)
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	http.SetCookie(w, c.sessions.cookie(flowCookie, text, flowLife))
	client := c.oidc.client(p)
	http.Redirect(w, r, client.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), http.StatusFound)
}

func (c *Console) oidcDone(w http.ResponseWriter, r *http.Request) {
	if c.oidc == nil {
		http.NotFound(w, r)
		return
	}
	person, to, err := c.oidcPerson(r)
	if err != nil {
		err = c.guessed(r, err)
	}
	http.SetCookie(w, c.sessions.cookie(flowCookie, "", -time.Second))
	if err == nil {
		err = c.sessions.start(r.Context(), w, person, c.oidc.Issuer)
	}
	if err != nil {
		c.refuse(w, r, err)
		return
	}
	c.log.Info("console sign-in", "person", person, "by", "oidc")
	http.Redirect(w, r, "/console/"+to, http.StatusFound)
}

// pageOf returns a fragment that names a page of the console, or "".
func pageOf(fragment string) string {
	u, err := url.Parse(fragment)
	if err != nil || !strings.HasPrefix(fragment, "#/") || len(fragment) > maxPageName {
		return ""
	}
	return u.String()
}

// maxPageName limits the fragment that a sign-in keeps, in bytes.
const maxPageName = 500

// oidcPerson verifies the provider's response and returns the person who has
// signed in, and the page to show.
func (c *Console) oidcPerson(r *http.Request) (person, to string, err error) {
	refuse := func(err error) (string, string, error) { return "", "", err }
	refused := func(why string) (string, string, error) {
		return refuse(bridge.Errorf(bridge.CodeUnauthenticated, "%s", why))
	}
	var f flow
	cookie, err := r.Cookie(c.sessions.named(flowCookie))
	if err != nil || !verify(c.sessions.key, "login", cookie.Value, &f) || time.Now().Unix() >= f.Expires || r.FormValue("state") != f.State {
		return refused("the sign-in did not start in this browser, or started too long ago")
	}
	ctx, cancel := bounded(r)
	defer cancel()
	p, err := c.oidc.discover(ctx)
	if err != nil {
		return refuse(err)
	}
	client := c.oidc.client(p)
	token, err := client.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return refuse(bridge.Wrap(bridge.CodeUnauthenticated, err, "the identity provider rejected the sign-in"))
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := p.Verifier(&oidc.Config{ClientID: c.oidc.ClientID}).Verify(ctx, raw)
	if err != nil || id.Nonce != f.Nonce {
		return refuse(bridge.Wrap(bridge.CodeUnauthenticated, err, "the identity provider's token is invalid"))
	}
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	if err := id.Claims(&claims); err != nil {
		return refuse(bridge.Wrap(bridge.CodeUnauthenticated, err, "the identity provider's token cannot be read"))
	}
	if !claims.Verified {
		return refused("the identity provider has not verified your email address")
	}
	for name, person := range c.oidc.People {
		if person.Email != "" && strings.EqualFold(person.Email, claims.Email) {
			return name, f.To, nil
		}
	}
	return refused("no person in the config has your email address")
}

// refuse redirects to the page, which shows the reason.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, err error) {
	c.log.Warn("console sign-in refused", "error", err)
	text, serr := sign(c.sessions.key, "refusal", bridge.PublicError(err).Message)
	if serr == nil {
		http.SetCookie(w, &http.Cookie{Name: c.sessions.named(refusedCookie), Value: text, Path: "/console/", MaxAge: 60, HttpOnly: true, Secure: c.sessions.secure, SameSite: http.SameSiteLaxMode})
	}
	http.Redirect(w, r, "/console/#/refused", http.StatusFound)
}
