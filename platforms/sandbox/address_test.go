package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestSlackAddress checks that a response URL leads to the sandbox although the
// bot has not called it yet.
func TestSlackAddress(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		got <- form.Get("response_url")
	}))
	t.Cleanup(app.Close)
	s := sandbox.New(sandbox.Options{Callbacks: map[string]string{"slack": app.URL}})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.Close() })
	act := `{"service":"slack","as":"ana","do":"command","channel":"` + sandbox.SlackChannel + `","text":"/x"}`
	resp, err := http.Post(server.URL+"/control/act", "application/json", strings.NewReader(act))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if u := <-got; !strings.HasPrefix(u, server.URL+"/slack/response/") {
		t.Errorf("response URL %q", u)
	}
}
