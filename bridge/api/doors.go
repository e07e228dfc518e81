package api

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// Door makes the handler of an agent's request.
type Door func(bridge.Agent) http.Handler

// through lets an agent's request through a door: read whole, and ended when
// the daemon stops.
func (s *Server) through(door Door) handler {
	return func(w http.ResponseWriter, r *http.Request, p Principal) error {
		body, err := readRaw(r)
		if err != nil {
			return err
		}
		requestRead(w)
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
		r = r.WithContext(ctx)
		r.Body = io.NopCloser(bytes.NewReader(body))
		door(*p.Agent).ServeHTTP(w, r)
		return nil
	}
}
