package core

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Controlled holds the functions behind the control API.
type Controlled struct {
	Hub        *Hub
	State      func() any // returns a copy of everything that members see
	Act        func(ctx context.Context, a Action) (Reaction, error)
	Disconnect func(service string, code int) error
}

// done is the answer to a request that has no result.
var done = raw.Object{"ok": true}

// Handler serves the control API.
func (c Controlled) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /control/state", func(w http.ResponseWriter, _ *http.Request) { raw.Write(w, 200, c.State()) })
	m.HandleFunc("GET /control/stream", c.stream)
	m.HandleFunc("POST /control/act", command(func(ctx context.Context, a Action) (any, error) { return c.Act(ctx, a) }))
	m.HandleFunc("POST /control/faults", command(func(_ context.Context, f Fault) (any, error) {
		c.Hub.AddFault(f)
		return done, nil
	}))
	m.HandleFunc("DELETE /control/faults", func(w http.ResponseWriter, _ *http.Request) {
		c.Hub.ClearFaults()
		raw.Write(w, 200, done)
	})
	m.HandleFunc("POST /control/disconnect", command(func(_ context.Context, d struct {
		Service string `json:"service"`
		Code    int    `json:"code"`
	}) (any, error) {
		return done, c.Disconnect(d.Service, d.Code)
	}))
	// Pages of other origins must not act as members.
	return http.NewCrossOriginProtection().Handler(m)
}

// command serves requests with a JSON body.
func command[T any](do func(ctx context.Context, body T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&body); err != nil {
			raw.Write(w, http.StatusBadRequest, raw.Object{"error": err.Error()})
			return
		}
		out, err := do(r.Context(), body)
		if err != nil {
			raw.Write(w, http.StatusUnprocessableEntity, raw.Object{"error": err.Error()})
			return
		}
		raw.Write(w, 200, out)
	}
}

// stream sends the state as server-sent events, at most about 20 a second.
func (c Controlled) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	rc := http.NewResponseController(w)
	for {
		ch := c.Hub.Changed()
		state, err := json.Marshal(c.State())
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", state); err != nil || rc.Flush() != nil {
			return
		}
		select {
		case <-ch:
		case <-r.Context().Done():
			return
		case <-c.Hub.Context().Done():
			return
		}
		if !Sleep(r.Context(), 50*time.Millisecond) {
			return
		}
	}
}
