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

// TestReachable checks which answers to a probe mean that no daemon can be
// reached.
func TestReachable(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		status int
		own    bool // the answer comes from a daemon
		outage bool
	}{
		{200, true, false},
		{200, false, false},
		{302, false, false},
		{401, false, false},
		{403, false, false},
		{404, false, true},
		{404, true, false},
		{407, false, false},
		{408, false, false},
		{413, false, false},
		{429, false, false},
		{431, false, false},
		{500, false, true},
		{502, false, true},
		{503, false, true},
		{503, true, false},
		{504, false, true},
		{520, false, true},
		{530, false, true},
		{0, false, true}, // the connection breaks
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if x.status == 0 {
				panic(http.ErrAbortHandler)
			}
			if r.URL.Path != "/v1/keys" || r.Header.Get("Authorization") != "" {
				t.Errorf("the probe is %s with %q", r.URL, r.Header.Get("Authorization"))
			}
			if x.own {
				w.Header().Set(bridge.HeaderDaemon, "test")
			}
			w.WriteHeader(x.status)
		}))
		err := client.New(s.URL, "secret", nil).Reachable(t.Context())
		if client.Outage(err) != x.outage || (err == nil) != x.own {
			t.Errorf("%+v: %v", x, err)
		}
		s.Close()
	}
}
