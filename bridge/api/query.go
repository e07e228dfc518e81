package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// queries are the query parameters of each call, as openapi.yaml describes
// them. A call that is not listed has none.
var queries = map[string]string{
	"POST /v1/interactions":               "wait now",
	"GET /v1/interactions":                "state session text cursor limit",
	"GET /v1/interactions/{id}":           "wait",
	"POST /v1/interactions/{id}/reprompt": "wait now",
	"GET /v1/sessions":                    "session",
	"GET /v1/sessions/{id}/messages":      "wait reader lease peek continued",
	"GET /v1/availability":                "route session",
	"DELETE /v1/approvals":                "session",
	"POST /v1/dialects/{dialect}":         "wait session route timeout on_timeout one_at_a_time cancel_on_disconnect grace join acknowledges",
	"GET /v1/grants":                      "session",
	"GET /v1/events":                      "session after follow",
}

// known returns a handler that refuses parameters that the call does not have,
// such as mistyped ones. Hooks ignore such parameters, because a hook of
// another version sends them with each call of its agent, and an error would
// block all of these calls.
func known(pattern string, h http.HandlerFunc) http.HandlerFunc {
	_, path, _ := strings.Cut(pattern, " ")
	if !strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v1/hooks/") {
		return h
	}
	names := strings.Fields(queries[pattern])
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			for name := range r.URL.Query() {
				if slices.Contains(names, name) {
					continue
				}
				if instead, gone := removed.Instead(removed.Field, name); gone {
					fail(w, bridge.Errorf(bridge.CodeInvalid, "%s: removed option", name).WithHint("%s", instead))
					return
				}
				e := bridge.Errorf(bridge.CodeInvalid, "%.100s: unknown parameter in the query", name).WithHint("this call takes none")
				if len(names) > 0 {
					e = e.WithHint("this call takes: %s", strings.Join(names, ", "))
				}
				fail(w, e)
				return
			}
		}
		h(w, r)
	}
}

// truth returns the value of a boolean parameter.
func truth(name, v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, bridge.Errorf(bridge.CodeInvalid, "%s: invalid value %q (true or false)", name, v)
	}
	return b, nil
}

// unknownPath responds to a request that no pattern matches. If another method
// has a pattern for the path, it responds with 405.
func (s *Server) unknownPath(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		fail(w, bridge.Errorf(bridge.CodeNotFound, "path not found").WithHint("see /openapi.yaml for all paths"))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	e := bridge.Errorf(bridge.CodeInvalid, "method %.20s not allowed (%s)", r.Method, strings.Join(allowed, ", "))
	_ = write(w, http.StatusMethodNotAllowed, errorBody{e}) // the caller may have disconnected
}
