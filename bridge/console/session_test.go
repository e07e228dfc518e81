package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge/api"
)

// TestSignIn checks that a person's token opens a session, that an agent's
// token or an unknown one does not, and that a failure is counted.
func TestSignIn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	failures := 0
	o.options.Failed = func(*http.Request) time.Duration { failures++; return 0 }
	o.reload()
	b := o.browser()
	for _, body := range []string{`{"token":"ci"}`, `{"token":"nobody"}`, `{"token":""}`} {
		if status, text := b.call(http.MethodPost, "/console/login", body); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if failures != 3 {
		t.Errorf("%d failures are counted", failures)
	}
	for _, body := range []string{`{`, `{"token":"ana","token":"bo"}`, `{"token":"ana","x":1}`, strings.Repeat(" ", 1<<20+1)} {
		if status, _ := b.call(http.MethodPost, "/console/login", body); status != http.StatusBadRequest {
			t.Errorf("%.20s: %d", body, status)
		}
	}
	if who := b.person(); who != "" {
		t.Errorf("%s is signed in", who)
	}
	if b = o.signedIn("ana"); b.person() != "ana" {
		t.Errorf("the page greets %q", b.person())
	}
	resp := b.send(http.MethodPost, "/console/login", `{"token":"ana"}`)
	resp.Body.Close()
	cookie := resp.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure || cookie.MaxAge != 12*60*60 {
		t.Errorf("the cookie is %+v", cookie)
	}
	o.options.Secure = true
	o.reload()
	resp = b.send(http.MethodPost, "/console/login", `{"token":"ana"}`)
	resp.Body.Close()
	if !resp.Cookies()[0].Secure {
		t.Error("with HTTPS, the cookie is also sent over HTTP")
	}
}

// TestTooManyAttempts checks that a sender with too many failed attempts has to
// wait, and that a valid token is accepted even so: otherwise strangers could
// lock people out.
func TestTooManyAttempts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.options.Failed = func(*http.Request) time.Duration { return 1500 * time.Millisecond }
	o.reload()
	for token, want := range map[string]int{"guess": http.StatusTooManyRequests, "ana": http.StatusOK} {
		resp := o.browser().send(http.MethodPost, "/console/login", `{"token":"`+token+`"}`)
		resp.Body.Close()
		if resp.StatusCode != want || want == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "2" {
			t.Errorf("%s: %s, Retry-After %q", token, resp.Status, resp.Header.Get("Retry-After"))
		}
	}
}

// TestSignOut checks that signing out ends a session for every copy of its
// cookie, and keeps it open if the end cannot be stored.
func TestSignOut(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b, stolen, second := o.signedIn("ana"), o.browser(), o.signedIn("ana")
	stolen.become(b)
	if stolen.person() != "ana" {
		t.Fatal("a copy of the cookie is not a session")
	}
	o.notes.down = true
	if status, _ := b.call(http.MethodPost, "/console/logout", nil); status < 500 || len(b.cookies()) == 0 {
		t.Errorf("signing out without Redis: %d, %d cookies", status, len(b.cookies()))
	}
	for _, path := range []string{"/console/session", "/console/inbox"} { // nothing false about the session
		if status, body := b.call(http.MethodGet, path, nil); status != http.StatusServiceUnavailable {
			t.Errorf("%s without Redis: %d %s", path, status, body)
		}
	}
	if status, _ := o.browser().call(http.MethodPost, "/console/login", `{"token":"ana"}`); status < 500 {
		t.Errorf("signing in without Redis: %d", status)
	}
	o.notes.down = false
	if status, body := b.call(http.MethodPost, "/console/logout", nil); status != http.StatusOK || len(b.cookies()) > 0 {
		t.Errorf("%d %s, %d cookies", status, body, len(b.cookies()))
	}
	if stolen.person() != "" {
		t.Error("the copy of the cookie is still valid")
	}
	if second.person() != "ana" {
		t.Error("another session of the person has ended")
	}
	if status, _ := o.browser().call(http.MethodPost, "/console/logout", nil); status != http.StatusOK {
		t.Errorf("signing out without a session: %d", status)
	}
}

// TestRemovedToken checks that a session ends when the token that opened it is
// removed.
func TestRemovedToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn("ana")
	for name, tokens := range map[string]map[string]api.Principal{
		"removed": {}, "given to bo": {hashOf("ana"): {Person: "bo"}}, "replaced": {hashOf("new"): {Person: "ana"}},
	} {
		o.options.Tokens = tokens
		o.reload()
		if who := b.person(); who != "" {
			t.Errorf("a token that was %s is still a session of %s", name, who)
		}
	}
}

// TestBlanksAroundToken checks that a person can paste a token with blanks around
// it.
func TestBlanksAroundToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.browser()
	if status, body := b.call(http.MethodPost, "/console/login", `{"token":" ana\n"}`); status != http.StatusOK || b.person() != "ana" {
		t.Errorf("%d %s", status, body)
	}
}

// TestOtherPort checks that two installations on one host do not end each
// other's sessions: browsers send cookies to every port.
func TestOtherPort(t *testing.T) {
	t.Parallel()
	o, other := newOffice(t), newOffice(t)
	other.options.Key = []byte(strings.Repeat("x", 32))
	other.reload()
	if a, b := o.signedIn("ana").cookies()[0], other.signedIn("ana").cookies()[0]; a.Name == b.Name {
		t.Errorf("both use the cookie %s", a.Name)
	}
}

// TestForgedCookies checks that only a cookie that nod signed for this purpose
// with this key is a session.
func TestForgedCookies(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	cookie := o.signedIn("ana").cookies()[0]
	good := cookie.Value
	payload, _, _ := strings.Cut(good, ".")
	for _, value := range []string{"", ".", "x", payload, payload + ".", payload + ".AAAA", "AAAA." + strings.Split(good, ".")[1], good + "A",
		"eyJpIjoieCIsInAiOiJhbmEiLCJiIjoieCIsImUiOjk5OTk5OTk5OTk5fQ.AAAA"} {
		b := o.browser()
		b.header.Set("Cookie", cookie.Name+"="+value)
		if who := b.person(); who != "" {
			t.Errorf("%q is a session of %s", value, who)
		}
	}
	o.options.Key = []byte(strings.Repeat("x", 32))
	o.reload()
	b := o.browser()
	b.header.Set("Cookie", cookie.Name+"="+good)
	if b.person() != "" {
		t.Error("a session that another key signed is valid")
	}
}

// TestOtherPages checks that a page of another origin cannot use a session,
// either at the console or at the API.
func TestOtherPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.ask(approval)
	b := o.signedIn("ana")
	principal := func(site string) (string, error) {
		r := httptest.NewRequest(http.MethodPost, "/v1/interactions", nil)
		r.Header.Set("Sec-Fetch-Site", site)
		for _, c := range b.cookies() {
			r.AddCookie(c)
		}
		p, err := o.console.Principal(r)
		return p.Person, err
	}
	if who, err := principal("same-origin"); who != "ana" || err != nil {
		t.Errorf("nod's page is %q, %v", who, err)
	}
	if who, err := principal("cross-site"); err == nil {
		t.Errorf("another page is %q", who)
	}
	b.header.Set("Origin", "https://evil.example")
	b.header.Set("Sec-Fetch-Site", "cross-site")
	for _, path := range []string{"/console/cards/" + string(id), "/console/logout", "/console/login"} {
		if status, body := b.call(http.MethodPost, path, `{"decision":"once"}`); status != http.StatusForbidden {
			t.Errorf("another page posts to %s: %d %s", path, status, body)
		}
	}
	if rec := o.get(id); rec.State.Final() {
		t.Errorf("it is %s", rec.State)
	}
}

// TestStrangers checks that the page loads without a session but shows no part
// of a request.
func TestStrangers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.ask(approval)
	b := o.browser()
	for _, path := range []string{"/console/inbox", "/console/history", "/console/cards/" + string(id)} {
		if status, body := b.call(http.MethodGet, path, nil); status != http.StatusUnauthorized || strings.Contains(body, "May I?") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _ := b.call(http.MethodPost, "/console/cards/"+string(id), `{"decision":"once"}`); status != http.StatusUnauthorized {
		t.Errorf("a stranger decides: %d", status)
	}
	resp := b.send(http.MethodGet, "/console/", "")
	resp.Body.Close()
	h := resp.Header
	if resp.StatusCode != http.StatusOK || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
		strings.Contains(h.Get("Content-Security-Policy"), "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the page: %s, %v", resp.Status, h)
	}
	for _, path := range []string{"/console/oidc", "/console/oidc/callback", "/console/missing"} {
		if status, _ := b.call(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}
