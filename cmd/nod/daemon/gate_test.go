package daemon_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// everyPath lists all paths that nod serves, with their methods.
var everyPath = []string{
	"POST /v1/interactions", "GET /v1/interactions", "POST /v1/interactions/x/response", "POST /v1/hooks/claude", "POST /v1/dialects/acp", "POST /v1/tools/ui.ask_user", "GET /v1/events", "GET /v1/ws", "GET /v1/keys", "GET /v1/audit", "PUT /v1/approvals",
	"POST /mcp", "GET /mcp", "GET /metrics", "POST /metrics", "GET /healthz", "POST /healthz", "GET /readyz", "GET /openapi.yaml",
	"GET /console/", "POST /console/login", "POST /console/logout", "GET /console/session", "GET /console/oidc", "GET /console/oidc/callback?state=x&code=y", "POST /console/cards/x", "GET /console/inbox", "GET /console/history", "POST /console/answers", "POST /console/policy", "POST /console/audit/verify", "POST /console/receipts",
	"POST /slack/interactions", "POST /discord/interactions", "POST /telegram/webhook", "GET /", "POST /nothing",
}

func availabilityRig(t *testing.T, connections int) *rig.Rig {
	return rig.New(t, rig.Options{HTTPMode: true, Brief: true, Config: func(c *config.Config) {
		c.MaxConnections = connections
		c.Console.Enabled = true
	}})
}

// slow sends the headers of a request and one byte of its body.
func slow(t *testing.T, address, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, _ = fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nX-Slack-Signature: v0=x\r\nX-Slack-Request-Timestamp: %d\r\nX-Signature-Ed25519: 00\r\nX-Signature-Timestamp: 1\r\n\r\n{", request, time.Now().Unix())
	return c
}

// TestSlowClients checks that nod ends the connection of a slow sender on every
// path, in the headers and in the body, and that callers with a token are served
// although slow senders use more connections than nod accepts.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const most = 40
	r := availabilityRig(t, most)
	address := strings.TrimPrefix(r.Daemons[0].URL, "http://")
	conns := map[string]net.Conn{}
	for _, request := range everyPath {
		conns[request] = slow(t, address, request)
	}
	var wg sync.WaitGroup
	for request, c := range conns {
		wg.Go(func() {
			ends(t, request, c)
		})
	}
	wg.Wait()
	head, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer head.Close()
	_, _ = io.WriteString(head, "GET /healthz HTTP/1.1\r\nHost:")
	ends(t, "unfinished headers", head)

	a := r.Ask(samples.Approval())
	answered := a.Caller()
	waits(r)
	for n := range 8 * most {
		slow(t, address, everyPath[n%len(everyPath)])
	}
	if _, err := r.Agent.Open(r.Ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Still there?",
	}}, ""); err != nil {
		t.Errorf("among slow clients: %v", err)
	}
	r.Press("ana", a.On("slack"), "Run command")
	if rec := await.Receive(t, "the answer to a caller, even when it was cut off,", answered); rec == nil || rec.State != bridge.StateApproved {
		t.Errorf("the caller got %+v, want approved", rec)
	}
}

// ends fails the test unless the daemon ends a connection.
func ends(t *testing.T, what string, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(await.Limit))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: still open", what)
	}
}

// waits waits until a caller waits for an answer at the first daemon.
func waits(r *rig.Rig) {
	r.T.Helper()
	r.Eventually("the caller waits", func() bool {
		s, err := r.Daemons[0].Store().Stats(r.Ctx)
		return err == nil && s.Waiting > 0
	})
}

// TestHosts checks that a site that points its own host name at nod cannot read
// or change anything on any path, and that the host names of the config work.
func TestHosts(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{HTTPMode: true, Config: func(c *config.Config) {
		c.Console.Enabled, c.Console.URL, c.Hosts = true, "https://nod.example.com", []string{"nod", "*.nod.svc"}
	}})
	address := strings.TrimPrefix(r.Daemons[0].URL, "http://")
	_, port, _ := net.SplitHostPort(address)
	get := func(request, host string) (int, string) {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(await.Limit))
		_, _ = fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", request, host)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s of %s: %v", request, host, err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw)
	}
	for _, request := range everyPath {
		for _, host := range []string{"evil.example", "evil.example:" + port, "localhost.evil.example", "nod.example.com.evil.example", "127.0.0.1.nip.io", "xnod", "a.nod.svc.evil.example", "127.0.0.1@evil.example"} {
			if status, body := get(request, host); status != http.StatusMisdirectedRequest && status != http.StatusBadRequest || strings.Contains(body, "nod_") {
				t.Errorf("%s of %s: %d %s", request, host, status, body)
			}
		}
	}
	if _, body := get("GET /metrics", "evil.example"); !strings.Contains(body, "hosts in the config") {
		t.Error(body)
	}
	for _, host := range []string{"localhost", "LOCALHOST:" + port, "127.0.0.1:" + port, "[::1]:" + port, "10.1.2.3:8787", "nod.example.com", "nod:8787", "x.nod.svc", "nod.example.com."} {
		if status, body := get("GET /healthz", host); status != http.StatusOK {
			t.Errorf("%s: %d %s", host, status, body)
		}
	}
}

// TestConsoleSessions checks that a copied cookie expires with its session, and
// that guesses of sign-ins and tokens are rate limited.
func TestConsoleSessions(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("slack")(c); c.Console.Enabled = true }})
	url := r.Daemons[0].URL
	call := func(method, path, body string, cookie *http.Cookie, token string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(r.Ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if cookie != nil {
			req.AddCookie(cookie)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	signIn := func() *http.Cookie {
		t.Helper()
		resp := call("POST", "/console/login", `{"token":"`+rig.AnaToken+`"}`, nil, "")
		if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
			t.Fatalf("sign in: %d", resp.StatusCode)
		}
		return resp.Cookies()[0]
	}
	mine, other := signIn(), signIn()
	copied := *mine
	for _, path := range []string{"/console/inbox", "/v1/interactions"} {
		if s := call("GET", path, "", &copied, "").StatusCode; s != http.StatusOK {
			t.Errorf("%s: %d", path, s)
		}
	}
	if s := call("POST", "/console/logout", "", mine, "").StatusCode; s != http.StatusOK {
		t.Errorf("logout: %d", s)
	}
	for _, path := range []string{"/console/inbox", "/v1/interactions", "/v1/events"} {
		if s := call("GET", path, "", &copied, "").StatusCode; s != http.StatusUnauthorized {
			t.Errorf("%s with a copied cookie after the logout: %d", path, s)
		}
	}
	if s := call("GET", "/console/inbox", "", other, "").StatusCode; s != http.StatusOK {
		t.Errorf("another session of the same person: %d", s)
	}

	limited := 0
	for n := range 3 * daemon.SignInBurst {
		resp := call("POST", "/console/login", fmt.Sprintf(`{"token":"wrong-token-%d"}`, n), nil, "")
		if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "" {
			limited++
		}
	}
	if limited < daemon.SignInBurst || call("POST", "/console/login", `{"token":"`+rig.AnaToken+`"}`, nil, "").StatusCode != http.StatusOK {
		t.Errorf("%d of %d guesses were rejected, or the right token was", limited, 3*daemon.SignInBurst)
	}
	limited = 0
	for n := range 3 * daemon.GuessBurst {
		if call("GET", "/v1/interactions", "", nil, fmt.Sprintf("wrong-token-%d", n)).StatusCode == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < daemon.GuessBurst {
		t.Errorf("%d of %d tokens were rejected", limited, 3*daemon.GuessBurst)
	}
	if _, err := r.Agent.Open(r.Ctx, bridge.Request{Ask: bridge.Ask{Prompt: "Still there?"}}, ""); err != nil {
		t.Errorf("a valid token from the same address: %v", err)
	}
	if s := call("GET", "/console/inbox", "", other, "").StatusCode; s != http.StatusOK {
		t.Errorf("an open session: %d", s)
	}
}
