package api

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// EntryPoint returns the handler for the requests of an agent.
type EntryPoint func(bridge.Agent) http.Handler

// through returns a handler that reads an agent's request in full, passes it to
// an entry point, and ends it when the daemon stops.
func (s exchanges) through(entry EntryPoint) handler {
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
		entry(*p.Agent).ServeHTTP(w, r)
		return nil
	}
}
