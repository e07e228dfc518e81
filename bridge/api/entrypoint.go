package api

import (
	"bytes"
	"io"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// EntryPoint returns the handler for the requests of an agent.
type EntryPoint func(bridge.Agent) http.Handler

// through returns a handler that reads an agent's request in full and passes it to
// an entry point, which ends it when the daemon stops.
func (s exchanges) through(entry EntryPoint) handler {
	return func(w http.ResponseWriter, r *http.Request, p Principal) error {
		body, err := readRaw(r)
		if err != nil {
			return err
		}
		requestRead(w)
		r.Body = io.NopCloser(bytes.NewReader(body))
		entry(*p.Agent).ServeHTTP(w, r)
		return nil
	}
}
