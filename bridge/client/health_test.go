package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

// TestHealth checks that a health check accepts only the health of a daemon,
// sends no credentials, and reports a daemon that is not ready.
func TestHealth(t *testing.T) {
	t.Parallel()
	status, kind, body := http.StatusOK, "application/json", `{"status":"ok"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the check sends credentials")
		}
		w.Header().Set("Content-Type", kind)
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			w.WriteHeader(status)
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	c := client.New(s.URL, "secret", nil)
	var h struct {
		Status string `json:"status"`
	}
	if ok, err := c.Health(t.Context(), false, &h); !ok || err != nil || h.Status != "ok" {
		t.Error(ok, err, h)
	}
	if ok, err := c.Health(t.Context(), true, &h); ok || err != nil {
		t.Error("not ready:", ok, err)
	}
	for _, x := range []struct {
		status     int
		kind, body string
		want       bridge.Code
	}{
		{http.StatusOK, "text/html", "<html>", bridge.CodeInternal},
		{http.StatusOK, "application/json", `{"status":"ok"`, bridge.CodeInternal},
		{http.StatusServiceUnavailable, "text/html", "<html>", bridge.CodeUnavailable},
		{http.StatusFound, "application/json", "{}", bridge.CodeInternal},
	} {
		status, kind, body = x.status, x.kind, x.body
		if ok, err := c.Health(t.Context(), false, &h); ok || bridge.ErrorCode(err) != x.want {
			t.Errorf("%+v: %v, %v", x, ok, err)
		}
	}
	s.Close()
	if ok, err := c.Health(t.Context(), false, &h); ok || bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Error(ok, err)
	}
}
