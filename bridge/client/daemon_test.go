package client_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

const (
	base  = "http://daemon.test"
	token = "agent-token"
	id    = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"
	other = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04"

	digest   = "e4c4a1d0a1ac4f1c8bfb6bff5b0df0a1b7fd2c4a1b62a2bd65b7ba4f2b5b9a10"
	asked    = `"interaction":{"id":"` + id + `","kind":"approval","prompt":"Go?","approval":{},"redacted":1,"digest":"` + digest + `"},"revision":1`
	pending  = `{` + asked + `,"state":"pending"}`
	approved = `{` + asked + `,"state":"approved","response":{"state":"approved","digest":"` + digest + `","scope":"once","at":"2026-11-21T14:31:12Z"}}`
)

// call is a request that the daemon received.
type call struct {
	method, uri, body string
	header            http.Header
}

// daemon is a transport that returns one answer after the other and repeats the
// last one. An answer is a function of the request.
type daemon struct {
	mu      sync.Mutex
	calls   []call
	answers []answer
}

type answer func(*http.Request) (*http.Response, error)

func (d *daemon) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	d.calls = append(d.calls, call{r.Method, r.URL.RequestURI(), string(body), r.Header})
	f := d.answers[min(len(d.calls), len(d.answers))-1]
	d.mu.Unlock()
	return f(r)
}

func respond(status int, kind, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {kind}, bridge.HeaderDaemon: {"test"}},
		Body: io.NopCloser(strings.NewReader(body))}
}

// says returns an answer in JSON.
func says(status int, body string) answer {
	return func(*http.Request) (*http.Response, error) { return respond(status, "application/json", body), nil }
}

// refuses returns an answer with an API error.
func refuses(code bridge.Code) answer {
	return says(code.HTTPStatus(), `{"error":{"code":"`+string(code)+`","message":"no","hint":"try"}}`)
}

// drops is an answer whose connection breaks.
func drops(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// hangs is an answer that never arrives.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func newClient(answers ...answer) (*client.Client, *daemon) {
	d := &daemon{answers: answers}
	return client.New(base+"/", token, &http.Client{Transport: d}), d
}

// request returns a question.
func request() bridge.Request {
	var r bridge.Request
	r.Prompt, r.Session = "Which one?", "s"
	return r
}

func codeIs(t *testing.T, what string, err error, want bridge.Code) {
	t.Helper()
	if bridge.ErrorCode(err) != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}
