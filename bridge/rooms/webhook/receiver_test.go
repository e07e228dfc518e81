package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/webhook"
)

func secretOf(n int, fill string) string {
	return webhook.SecretPrefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, n)))
}

// delivery is one call that the receiver got.
type delivery struct {
	method, path string
	header       http.Header
	body         string
}

// receiver starts an HTTP server that records its calls and responds with f.
func receiver(t *testing.T, f http.HandlerFunc) (string, <-chan delivery) {
	t.Helper()
	got := make(chan delivery, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- delivery{r.Method, r.URL.Path, r.Header, string(body)}
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func newHook(t *testing.T, o webhook.HookOptions) *webhook.Hook {
	t.Helper()
	o.Name = "audit"
	if o.Secret == "" {
		o.Secret = secretOf(32, "k")
	}
	h, err := webhook.NewHook(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// signature computes the signature that Standard Webhooks requires,
// independently of the package.
func signature(key string, d delivery) string {
	m := hmac.New(sha256.New, []byte(key))
	io.WriteString(m, d.header.Get("Webhook-Id")+"."+d.header.Get("Webhook-Timestamp")+"."+d.body)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// TestDelivery checks that the body arrives unchanged, with its ID, the current
// time and one signature for each secret.
func TestDelivery(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, status(http.StatusNoContent))
	h := newHook(t, webhook.HookOptions{URL: url + "/in", Secret: secretOf(24, "a") + " , " + secretOf(64, "b")})
	if h.Name() != "audit" {
		t.Errorf("its name is %q", h.Name())
	}
	const body = `{"type":"interaction.approved","data":{"x":"<&>"}}`
	if err := h.Send(t.Context(), "msg_1", []byte(body)); err != nil {
		t.Fatal(err)
	}
	d := <-got
	if d.method != http.MethodPost || d.path != "/in" || d.body != body || d.header.Get("Webhook-Id") != "msg_1" ||
		d.header.Get("Content-Type") != "application/json" {
		t.Errorf("received %+v", d)
	}
	at, err := strconv.ParseInt(d.header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > time.Minute {
		t.Errorf("timestamp %q, %v", d.header.Get("Webhook-Timestamp"), err)
	}
	want := signature(strings.Repeat("a", 24), d) + " " + signature(strings.Repeat("b", 64), d)
	if s := d.header.Get("Webhook-Signature"); s != want {
		t.Errorf("signature %q, want %q", s, want)
	}
}

// TestAnswers checks which status ends a delivery, which one causes a retry,
// and how long the receiver asks nod to wait.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		answer http.HandlerFunc
		code   bridge.Code // error code of a failed delivery
		after  time.Duration
	}{
		"created": {answer: status(http.StatusCreated)},
		"gone":    {answer: status(http.StatusGone), code: bridge.CodeNotFound},
		"error":   {answer: status(http.StatusInternalServerError), code: bridge.CodeUnavailable},
		"refusal": {answer: status(http.StatusBadRequest), code: bridge.CodeUnavailable},
		"later": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}, code: bridge.CodeUnavailable, after: 7 * time.Second},
		"a year": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "99999999999999")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, code: bridge.CodeUnavailable, after: 365 * 24 * time.Hour},
		"a time in the past": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "Thu, 01 Jan 2026 00:00:00 GMT")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, code: bridge.CodeUnavailable},
		"nonsense": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "-7")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, code: bridge.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := receiver(t, x.answer)
			err := newHook(t, webhook.HookOptions{URL: url}).Send(t.Context(), "m", []byte("{}"))
			if x.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := bridge.PublicError(err); bridge.ErrorCode(err) != x.code || e.RetryAfter != x.after {
				t.Errorf("%v, try again in %s; want %s, %s", err, e.RetryAfter, x.code, x.after)
			}
		})
	}
}

// TestRedirect checks that a delivery goes to the configured URL only.
func TestRedirect(t *testing.T) {
	t.Parallel()
	elsewhere, got := receiver(t, status(http.StatusOK))
	url, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	client := &http.Client{}
	err := newHook(t, webhook.HookOptions{URL: url, Client: client}).Send(t.Context(), "m", []byte("{}"))
	if bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("a redirect is %v", err)
	}
	if len(got) > 0 {
		t.Errorf("the redirect was followed: %+v", <-got)
	}
	if client.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
}

// TestUnreachable checks that the error for an unreachable receiver does not
// contain the URL, which may contain a secret.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(status(http.StatusOK))
	url := s.URL
	s.Close()
	err := newHook(t, webhook.HookOptions{URL: url + "/SECRET-PATH"}).Send(t.Context(), "m", []byte("{}"))
	if bridge.ErrorCode(err) != bridge.CodeUnavailable || strings.Contains(err.Error(), "SECRET-PATH") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newHook(t, webhook.HookOptions{URL: url}).Send(ctx, "m", nil); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestOptions checks that New rejects an invalid URL or secret, and names the
// config key.
func TestOptions(t *testing.T) {
	t.Parallel()
	good := secretOf(32, "k")
	for _, x := range []struct{ url, secret, key string }{
		{"ftp://example.com", good, "webhooks.audit.url"},
		{"https://", good, "webhooks.audit.url"},
		{"http://[", good, "webhooks.audit.url"},
		{"", good, "webhooks.audit.url"},
		{"https://example.com", "", "webhooks.audit.secret"},
		{"https://example.com", strings.TrimPrefix(good, webhook.SecretPrefix), "webhooks.audit.secret"},
		{"https://example.com", secretOf(23, "k"), "webhooks.audit.secret"},
		{"https://example.com", secretOf(65, "k"), "webhooks.audit.secret"},
		{"https://example.com", webhook.SecretPrefix + "!", "webhooks.audit.secret"},
		{"https://example.com", good + ",", "webhooks.audit.secret"},
	} {
		_, err := webhook.NewHook(webhook.HookOptions{Name: "audit", URL: x.url, Secret: x.secret})
		if bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), x.key+":") {
			t.Errorf("%q and %q: %v, want an error about %s", x.url, x.secret, err, x.key)
		}
		if x.secret != "" && err != nil && strings.Contains(err.Error(), x.secret) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}

// TestAgents checks that a hook receives the requests of its agents, or of all
// agents if it names none.
func TestAgents(t *testing.T) {
	t.Parallel()
	const url = "https://example.com"
	if h := newHook(t, webhook.HookOptions{URL: url}); !h.Wants("ci") {
		t.Error("a hook of all agents does not want ci")
	}
	if h := newHook(t, webhook.HookOptions{URL: url, Agents: []string{"cd"}}); h.Wants("ci") || !h.Wants("cd") {
		t.Error("a hook of cd wants ci, or not cd")
	}
}
