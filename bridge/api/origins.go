package api

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// origins are the patterns of the other origins whose pages may open a WebSocket,
// such as https://app.example.com or https://*.example.com.
type origins []string

// admit returns CodeForbidden for a page of another origin that is not allowed.
// An allowed page needs a token, because browsers send the console session with
// requests from every page.
func (o origins) admit(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	switch {
	case err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host):
		return nil
	case err != nil || u.Host == "" || !o.allow(u.Scheme+"://"+u.Host):
		return bridge.Errorf(bridge.CodeForbidden, "origin: pages of %q may not connect", origin).
			WithHint("add the origin to origins in the config, or serve the page at the URL of the daemon")
	case r.Header.Get("Authorization") == "":
		return bridge.Errorf(bridge.CodeUnauthenticated, "a valid token is required for a page of another origin").
			WithHint(`use new WebSocket(url, ["nod", "bearer." + token])`)
	}
	return nil
}

func (o origins) allow(origin string) bool {
	for _, pattern := range o {
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(origin)); ok && err == nil {
			return true
		}
	}
	return false
}
