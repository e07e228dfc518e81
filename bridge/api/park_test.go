package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// opening sends a request that waits, without a client library.
func opening(t testing.TB, url, more string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	body := `{"prompt":"May I?",` + more + `"approval":{"tool":"bash","input":{"command":"ls"}}}`
	_, err = fmt.Fprintf(c, "POST /v1/interactions?wait=1m HTTP/1.1\r\nHost: nod\r\nAuthorization: Bearer agent\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eventually waits until a call returns a body that contains want.
func (d described) eventually(token, path, want string) string {
	d.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got := d.call(token, "GET", path, "", 200)
		if strings.Contains(got, want) {
			return got
		}
		if time.Now().After(end) {
			d.t.Fatalf("%s has no %s: %s", path, want, got)
		}
	}
}

// TestParked checks that a caller that has waited for longer than a second gets
// its response, and that its disconnection is noticed.
func TestParked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, router := description(t)
	d := described{t, s.URL, router, map[string]bool{}}
	answered, left, hasty := opening(t, s.URL, `"session":"a",`), opening(t, s.URL, `"session":"b","cancel_on_disconnect":true,`), opening(t, s.URL, `"session":"c",`)
	ids := map[string]string{}
	for _, session := range []string{"a", "b", "c"} {
		ids[session] = field(d.eventually("agent", "/v1/interactions?session="+session, `"id":"`), "id")
	}
	time.Sleep(1500 * time.Millisecond)
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
