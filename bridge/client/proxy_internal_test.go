package client

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestProxies checks that a proxy that does not connect to the daemon is named, and
// that it ends no wait: it may connect at the next try.
func TestProxies(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		base   string
		status int
	}{
		{"https://nod.invalid", 403}, {"https://nod.invalid", 407}, {"https://nod.invalid", 502}, {"http://nod.invalid", 407},
		{"https://nod.invalid", 0}, {"http://nod.invalid", 0},
	} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(x.status) }))
		address, err := url.Parse(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		if x.status == 0 { // nothing listens there
			proxy.Close()
		}
		through := transport().(*http.Transport).Clone()
		through.Proxy = http.ProxyURL(address)
		c := New(x.base, "token-of-the-tests", &http.Client{Transport: through})
		_, err = c.Get(t.Context(), "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03")
		public := bridge.PublicError(err)
		if public.Code != bridge.CodeUnavailable || !misdirected(err) && x.status != 0 || !strings.Contains(public.Message, "proxy") || !strings.Contains(public.Hint, "PROXY") || strings.Contains(public.Hint, "nod serve") {
			t.Errorf("%s, status %d: %+v", x.base, x.status, public)
		}
		proxy.Close()
		through.CloseIdleConnections()
	}
}
