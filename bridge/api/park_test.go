package api_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// opening sends a request that waits, without a client library.
func opening(t testing.TB, url, more string) net.Conn {
	t.Helper()
	c := connect(t, url)
	send(t, c, "HTTP/1.1", more, "")
	return c
}

func connect(t testing.TB, url string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// send sends a request that waits, with more fields in its body, and rest after
// it.
func send(t testing.TB, c net.Conn, version, more, rest string) {
	t.Helper()
	body := `{"prompt":"May I?",` + more + `"approval":{"tool":"bash","input":{"command":"ls"}}}`
	_, err := fmt.Fprintf(c, "POST /v1/interactions?wait=1m %s\r\nHost: nod\r\nAuthorization: Bearer agent\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", version, len(body), body, rest)
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a call returns a body that contains want.
func (d described) eventually(token, path, want string) string {
	d.t.Helper()
	var got string
	await.Clear(d.t, func() string {
		if got = d.call(token, "GET", path, "", 200); strings.Contains(got, want) {
			return ""
		}
		return path + " has no " + want + ": " + got
	}, d.stored.Next)
	return got
}

// parkedAll waits until a number of calls is parked.
func (s *server) parkedAll(t *testing.T, n int) {
	t.Helper()
	for range n {
		await.Receive(t, "a parked call", s.parked)
	}
}

// TestParked checks that a caller that has waited for longer than a second gets
// its response, and that its disconnection is noticed.
func TestParked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, router := description(t)
	d := described{s, t, router, map[string]bool{}}
	answered, left, hasty := opening(t, s.URL, `"session":"a",`), opening(t, s.URL, `"session":"b","cancel_on_disconnect":true,`), opening(t, s.URL, `"session":"c",`)
	ids := map[string]string{}
	for _, session := range []string{"a", "b", "c"} {
		ids[session] = field(d.eventually("agent", "/v1/interactions?session="+session, `"id":"`), "id")
	}
	s.parkedAll(t, 3)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	d.eventually("agent", "/v1/interactions/"+ids["b"], `"state":"cancelled"`)
	if _, err := hasty.Write([]byte("GET /healthz HTTP/1.1\r\nHost: nod\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	for session, c := range map[string]net.Conn{"a": answered, "c": hasty} {
		d.call("ana", "POST", "/v1/interactions/"+ids[session]+"/response", `{"decision":"once"}`, 200)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		body := string(raw)
		if resp.StatusCode != http.StatusCreated || !resp.Close || !strings.Contains(body, `"state":"approved"`) ||
			resp.Header.Get("Location") != "/v1/interactions/"+ids[session] || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Date") == "" {
			t.Errorf("the response is %v: %s", resp, body)
		}
		d.eventually("agent", "/v1/interactions/"+ids[session], `"delivered":"`)
	}
}

// TestParkedCallersLeave checks that a parked call ends with its connection, whatever
// its caller has sent after the request, and that no part of it is taken for a
// request.
func TestParkedCallersLeave(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, router := description(t)
	d := described{s, t, router, map[string]bool{}}
	const cancels = `"cancel_on_disconnect":true,`
	const smuggled = "POST /v1/sessions/victim/cancel HTTP/1.1\r\nHost: nod\r\n" +
		"Authorization: Bearer agent\r\nContent-Length: 0\r\n\r\n"
	conns := map[string]net.Conn{}
	for name, rest := range map[string]string{"early": smuggled, "late": "", "flood": "", "half": ""} {
		c := connect(t, s.URL)
		send(t, c, "HTTP/1.1", cancels+`"session":"`+name+`",`, rest)
		conns[name] = c
	}
	opening(t, s.URL, `"session":"victim",`)
	ids := map[string]string{}
	for _, name := range []string{"early", "late", "flood", "half", "victim"} {
		ids[name] = field(d.eventually("agent", "/v1/interactions?session="+name, `"id":"`), "id")
	}
	s.parkedAll(t, 5)
	for name, c := range conns {
		switch name {
		case "late":
			if _, err := io.WriteString(c, smuggled+smuggled); err != nil {
				t.Fatal(err)
			}
			c.Close()
		case "flood":
			for part := strings.Repeat(smuggled, 100); ; {
				if _, err := io.WriteString(c, part); err != nil {
					break // the daemon has closed the connection
				}
			}
		case "half":
			if err := c.(*net.TCPConn).CloseWrite(); err != nil { //nolint:errcheck,forcetypeassert // it is one
				t.Fatal(err)
			}
		default:
			c.Close()
		}
	}
	for name := range conns {
		d.eventually("agent", "/v1/interactions/"+ids[name], `"state":"cancelled"`)
	}
	d.eventually("agent", "/v1/interactions/"+ids["victim"], `"state":"pending"`)
}

// TestParkedVersions checks that callers over TLS and over HTTP/1.0 get their
// response after a long wait, and nothing after it.
func TestParkedVersions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	secure, parked := httptest.NewUnstartedServer(s.Config.Handler), make(chan struct{}, 1)
	secure.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			parked <- struct{}{}
		}
	}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	_, router := description(t)
	d := described{s, t, router, map[string]bool{}}
	own := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a server of the test
	over, err := (&tls.Dialer{Config: own}).DialContext(t.Context(), "tcp", strings.TrimPrefix(secure.URL, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { over.Close() })
	send(t, over, "HTTP/1.1", `"session":"tls",`, "")
	old := connect(t, s.URL)
	send(t, old, "HTTP/1.0", `"session":"old",`, "")
	conns := map[string]net.Conn{"tls": over, "old": old}
	await.Receive(t, "the parked call over HTTP/1.1", parked)
	for name, c := range conns {
		id := field(d.eventually("agent", "/v1/interactions?session="+name, `"id":"`), "id")
		d.call("ana", "POST", "/v1/interactions/"+id+"/response", `{"decision":"once"}`, 200)
		raw, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		if head, _, _ := strings.Cut(string(raw), "\r\n"); !strings.HasSuffix(head, " 201 Created") ||
			strings.Count(string(raw), "HTTP/1.") != 1 || !strings.Contains(string(raw), `"state":"approved"`) {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// TestReadersLeave checks that a person does not cancel a request by waiting for it
// and disconnecting.
func TestReadersLeave(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, router := description(t)
	d := described{s, t, router, map[string]bool{}}
	resp, raw := caller{t, s.URL}.do("agent", "/v1/interactions", `{"prompt":"May I?","cancel_on_disconnect":true,"approval":{"tool":"bash","input":{"command":"ls"}}}`, "")
	if resp.StatusCode != http.StatusCreated {
		t.Fatal(raw)
	}
	path := "/v1/interactions/" + field(raw, "id")
	watched, closed := httptest.NewUnstartedServer(s.Config.Handler), make(chan struct{}, 1)
	watched.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	watched.Start()
	t.Cleanup(watched.Close)
	c := connect(t, watched.URL)
	if _, err := fmt.Fprintf(c, "GET %s?wait=900ms HTTP/1.1\r\nHost: nod\r\nAuthorization: Bearer ana\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	c.Close()
	await.Receive(t, "the end of the connection", closed)
	d.eventually("agent", path, `"state":"pending"`)
}
