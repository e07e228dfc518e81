package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestMistakesAreNotIgnored checks that a call with a parameter, a header, a method
// or a body that nod would ignore is refused.
func TestMistakesAreNotIgnored(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	call := func(method, path, body string, header http.Header) (int, string, http.Header) {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = header.Clone()
		if req.Header == nil {
			req.Header = http.Header{}
		}
		req.Header.Set("Authorization", "Bearer agent")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw), resp.Header
	}
	const ask = `{"prompt":"?"}`
	for _, x := range []struct {
		method, path, body string
		header             http.Header
		status             int
		says               string
	}{
		{"POST", "/v1/interactions?wait=99h", ask, nil, 400, "out of range"},
		{"POST", "/v1/interactions?wait=-1s", ask, nil, 400, "out of range"},
		{"POST", "/v1/interactions?wait=NaN", ask, nil, 400, "invalid duration"},
		{"POST", "/v1/interactions?now=perhaps", ask, nil, 400, "now: invalid value"},
		{"POST", "/v1/interactions?wiat=1s", ask, nil, 400, "wiat: unknown parameter"},
		{"GET", "/v1/interactions?state=pending&limits=3", "", nil, 400, "limits: unknown parameter"},
		{"POST", "/v1/interactions", ask, http.Header{"Idempotency-Key": {""}}, 400, "Idempotency-Key: empty"},
		{"POST", "/v1/interactions", ask, http.Header{"Idempotency-Key": {"a", "b"}}, 400, "sent 2 times"},
		{"POST", "/v1/interactions", ask, http.Header{"Nod-Caller": {" "}}, 400, "Nod-Caller: empty"},
		{"PUT", "/v1/interactions", ask, nil, 405, "GET, POST"},
		{"DELETE", "/v1/sessions", "", nil, 405, "GET"},
		{"GET", "/v1/nothing", "", nil, 404, "path not found"},
		{"POST", "/v1/interactions", "null", nil, 400, "not null"},
		{"POST", "/v1/sessions/s/cancel", " null ", nil, 400, "not null"},
		{"POST", "/v1/interactions", `{"prompt":"?","session":".."}`, nil, 400, "a URL cannot contain it"},
	} {
		status, body, h := call(x.method, x.path, x.body, x.header)
		if status != x.status || !strings.Contains(body, x.says) || (status == 405) != (h.Get("Allow") != "") {
			t.Errorf("%s %s: %d %s", x.method, x.path, status, body)
		}
	}
	for _, path := range []string{"/v1/interactions?wait=1ms", "/v1/interactions?wait=0"} {
		if status, body, _ := call("POST", path, ask, nil); status != 201 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _, _ := call("GET", "/healthz?probe=1", "", nil); status != 200 {
		t.Errorf("a probe: %d", status)
	}
}

// TestQueriesAreDescribed checks that the calls take the parameters that
// openapi.yaml describes.
func TestQueriesAreDescribed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	doc, _ := description(t)
	for path, item := range doc.Paths.Map() {
		if !strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v1/hooks/") {
			continue
		}
		for method, op := range item.Operations() {
			for _, p := range append(op.Parameters, item.Parameters...) {
				if p.Value.In != "query" {
					continue
				}
				at := strings.NewReplacer("{id}", "x", "{dialect}", "acp", "{platform}", "x", "{person}", "x", "{message}", "x").Replace(path)
				ctx, cancel := context.WithCancel(t.Context())
				req, err := http.NewRequestWithContext(ctx, method, s.URL+at+"?"+p.Value.Name+"=1", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer agent")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				raw := make([]byte, 1000)
				n, _ := resp.Body.Read(raw)
				cancel()
				resp.Body.Close()
				if strings.Contains(string(raw[:n]), "unknown parameter") {
					t.Errorf("%s %s refuses %s", method, path, p.Value.Name)
				}
			}
		}
	}
}
