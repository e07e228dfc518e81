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

// Handler serves the control API.
func (c Controlled) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /control/state", func(w http.ResponseWriter, _ *http.Request) { raw.Write(w, 200, c.State()) })
	m.HandleFunc("GET /control/stream", c.stream)
	m.HandleFunc("POST /control/act", c.act)
	m.HandleFunc("POST /control/faults", func(w http.ResponseWriter, r *http.Request) {
		var f Fault
		if decode(w, r, &f) {
			c.Hub.AddFault(f)
			done(w)
		}
	})
	m.HandleFunc("DELETE /control/faults", func(w http.ResponseWriter, _ *http.Request) {
		c.Hub.ClearFaults()
		done(w)
	})
	m.HandleFunc("POST /control/disconnect", c.disconnect)
	// Pages of other origins must not act as members.
	return http.NewCrossOriginProtection().Handler(m)
}

func (c Controlled) act(w http.ResponseWriter, r *http.Request) {
	var a Action
	if !decode(w, r, &a) {
		return
	}
	reaction, err := c.Act(r.Context(), a)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	raw.Write(w, 200, reaction)
}

func (c Controlled) disconnect(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Service string `json:"service"`
		Code    int    `json:"code"`
	}
	if !decode(w, r, &d) {
		return
	}
	if err := c.Disconnect(d.Service, d.Code); err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	done(w)
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return false
	}
	return true
}

func done(w http.ResponseWriter) { raw.Write(w, 200, raw.Object{"ok": true}) }

func refuse(w http.ResponseWriter, status int, err error) {
	raw.Write(w, status, raw.Object{"error": err.Error()})
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
