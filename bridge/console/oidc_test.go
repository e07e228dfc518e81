package console_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/nodbridge/nod/bridge/console"
)

// provider is an identity provider with one user, which tests can make
// misbehave.
type provider struct {
	*httptest.Server
	t     testing.TB
	key   *rsa.PrivateKey
	nonce string
	// claims override those of a valid token, and refuse rejects the code.
	claims map[string]any
	refuse bool
}

func newProvider(t testing.TB) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		p.nonce = q.Get("nonce")
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=good&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	})
	mux.HandleFunc("/token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.answer(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
}

// token issues an ID token for the code from /auth. It requires the PKCE
// verifier and the client's secret.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	_, secret, _ := r.BasicAuth()
	if p.refuse || r.FormValue("code") != "good" || r.FormValue("code_verifier") == "" || secret != "secret" {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": "nod", "sub": "1", "exp": time.Now().Add(time.Minute).Unix(),
		"iat": time.Now().Unix(), "nonce": p.nonce, "email": "ANA@example.com", "email_verified": true}
	for k, v := range p.claims {
		claims[k] = v
	}
	raw, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	signed, err := signer.Sign(raw)
	if err != nil {
		p.t.Error(err)
		return
	}
	id, err := signed.CompactSerialize()
	if err != nil {
		p.t.Error(err)
	}
	p.answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": id})
}

// withOIDC returns an office whose people sign in with a provider.
func withOIDC(t testing.TB) (*office, *provider) {
	t.Helper()
	o, p := newOffice(t), newProvider(t)
	o.options.OIDC = &console.OIDC{Issuer: p.URL, ClientID: "nod", ClientSecret: "secret", Callback: o.URL + "/console/oidc/callback",
		People: map[string]console.Person{"ana": {Email: "ana@example.com", Auditor: true}, "bo": {}}}
	o.reload()
	return o, p
}

// refused returns the reason that the page shows for a failed sign-in.
func (b *browser) refused() string {
	b.t.Helper()
	var who struct{ Refused string }
	_, body := b.call(http.MethodGet, "/console/session", nil)
	if err := json.Unmarshal([]byte(body), &who); err != nil {
		b.t.Fatal(err)
	}
	return who.Refused
}

// TestOIDC checks that the provider's user is signed in as the person with that
// email address, in a session that ends when the person is removed from the
// config.
func TestOIDC(t *testing.T) {
	t.Parallel()
	o, _ := withOIDC(t)
	b := o.browser()
	if status, body := b.call(http.MethodGet, "/console/oidc", nil); status != http.StatusOK || b.person() != "ana" {
		t.Fatalf("%q is signed in: %d %s, %q", b.person(), status, body, b.refused())
	}
	if len(b.cookies()) != 1 {
		t.Errorf("it leaves the cookies %v", b.cookies())
	}
	r := httptest.NewRequest(http.MethodGet, "/v1/audit", nil)
	r.AddCookie(b.cookies()[0])
	if p, err := o.console.Principal(r); err != nil || p.Person != "ana" || !p.Auditor {
		t.Errorf("the API is called by %+v", p)
	}
	delete(o.options.OIDC.People, "ana")
	if b.person() != "" {
		t.Error("a person who was removed is signed in")
	}
}

// TestOIDCRefused checks that a sign-in succeeds only if the provider vouches
// for a verified address, for this client, in this browser, and now.
func TestOIDCRefused(t *testing.T) {
	t.Parallel()
	o, p := withOIDC(t)
	failures := 0
	o.options.Failed = func(*http.Request) time.Duration { failures++; return 0 }
	o.reload()
	attempts := 0
	for name, claims := range map[string]map[string]any{
		"an unverified address": {"email_verified": false}, "another address": {"email": "eve@example.com"},
		"no address": {"email": ""}, "another nonce": {"nonce": "x"}, "another client": {"aud": "x"},
		"another issuer": {"iss": "https://evil.example"}, "an old token": {"exp": time.Now().Add(-time.Hour).Unix()},
		"odd claims": {"email_verified": "perhaps"},
	} {
		p.claims = claims
		b := o.browser()
		b.call(http.MethodGet, "/console/oidc", nil)
		attempts++
		if who, why := b.person(), b.refused(); who != "" || why == "" {
			t.Errorf("%s signs %q in; the page says %q", name, who, why)
		}
	}
	p.claims, p.refuse = nil, true
	b := o.browser()
	b.call(http.MethodGet, "/console/oidc", nil)
	if b.person() != "" || b.refused() == "" {
		t.Errorf("a refused code signs %q in", b.person())
	}
	p.refuse = false
	b = o.browser()
	b.call(http.MethodGet, "/console/oidc/callback?code=good&state=x", nil)
	if b.person() != "" || !strings.Contains(b.refused(), "did not start in this browser") {
		t.Errorf("a sign-in that started elsewhere signs %q in: %q", b.person(), b.refused())
	}
	if failures != attempts+2 {
		t.Errorf("%d failures are counted, want %d", failures, attempts+2)
	}
}

// TestOIDCState checks that the response to one sign-in is not accepted for
// another one.
func TestOIDCState(t *testing.T) {
	t.Parallel()
	o, p := withOIDC(t)
	b := o.browser()
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := b.send(http.MethodGet, "/console/oidc", "")
	resp.Body.Close()
	at, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || at.Query().Get("code_challenge_method") != "S256" || at.Query().Get("client_id") != "nod" {
		t.Fatalf("the provider is asked at %s, %v", at, err)
	}
	p.nonce = at.Query().Get("nonce")
	b.call(http.MethodGet, "/console/oidc/callback?code=good&state=of-another", nil)
	if b.person() != "" || !strings.Contains(b.refused(), "did not start in this browser") {
		t.Errorf("%q is signed in: %q", b.person(), b.refused())
	}
}

// TestOIDCUnavailable checks that the page shows why a person cannot sign in:
// too many attempts, an unreachable provider, or a session that cannot be
// stored.
func TestOIDCUnavailable(t *testing.T) {
	t.Parallel()
	o, p := withOIDC(t)
	o.notes.down = true
	b := o.browser()
	b.call(http.MethodGet, "/console/oidc", nil)
	if b.person() != "" || b.refused() == "" {
		t.Errorf("without Redis: %q, %q", b.person(), b.refused())
	}
	o.notes.down = false
	o.options.Failed = func(*http.Request) time.Duration { return time.Second }
	o.reload()
	b = o.browser()
	b.call(http.MethodGet, "/console/oidc/callback", nil)
	if !strings.Contains(b.refused(), "too many failed attempts") {
		t.Errorf("after too many attempts: %q", b.refused())
	}
	o.options.Failed = nil
	p.Close()
	o.options.OIDC = &console.OIDC{Issuer: p.URL}
	o.reload()
	b = o.browser()
	b.call(http.MethodGet, "/console/oidc", nil)
	if !strings.Contains(b.refused(), "identity provider") {
		t.Errorf("without the provider: %q", b.refused())
	}
}
