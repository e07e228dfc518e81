package api

import (
	"net/http"
	"testing"
)

// TestTokenFromProtocol checks that a browser can send any token as a subprotocol.
func TestTokenFromProtocol(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string]string{
		"nod, bearer.abc": "Bearer abc", "nod, bearer64.YTpiIGM": "Bearer a:b c", "nod, bearer64.YTpiIGM=": "Bearer a:b c",
		"nod": "", "nod, bearer64.!": "",
	} {
		r := &http.Request{Header: http.Header{"Sec-Websocket-Protocol": {protocol}}}
		tokenFromProtocol(r)
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s: got %q, want %q", protocol, got, want)
		}
	}
}
