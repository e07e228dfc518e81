package discord_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestPing checks the response to the ping with which Discord verifies an
// interactions endpoint.
func TestPing(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
	t.Cleanup(s.Close)
	p, err := newPlatform(platformtest.Setup{URL: "http://127.0.0.1", Callback: "http://127.0.0.1", Sandbox: s})
	if err != nil {
		t.Fatal(err)
	}
	const ping = `{"id":"1","type":1}`
	r := httptest.NewRequest("POST", "/", strings.NewReader(ping))
	sandbox.SignDiscord(r.Header, s.DiscordKey(), time.Now(), []byte(ping))
	w := httptest.NewRecorder()
	p.Handler(&platformtest.Recorder{}).ServeHTTP(w, r)
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"type":1}` {
		t.Errorf("the response is HTTP %d %s, want a pong", w.Code, w.Body)
	}
}
