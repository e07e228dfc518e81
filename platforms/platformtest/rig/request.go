package rig

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

// ReadFile returns the text of a file.
func ReadFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// PostTo posts raw bytes to a path of the first daemon.
func (r *Rig) PostTo(path string, header http.Header, body string) int {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.Ctx, http.MethodPost, r.Daemons[0].URL+path, strings.NewReader(body))
	if err != nil {
		r.T.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.T.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// AnswerOnce is a reply that approves once.
var AnswerOnce = bridge.Reply{Decision: bridge.DecideOnce}

// Fetch returns the response to a GET request.
func Fetch(r *Rig, url string) string {
	r.T.Helper()
	resp, err := http.Get(url)
	if err != nil {
		r.T.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.T.Fatal(err)
	}
	return string(raw)
}

// NewClient returns a client of a daemon.
func NewClient(url, token string) *client.Client { return client.New(url, token, nil) }
