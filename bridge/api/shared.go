package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms"
)

// shared holds the dependencies with which handlers read requests and wait for
// them.
type shared struct {
	engine  *rooms.House
	reader  Reader
	owners  *owners
	closing context.Context
	parked  *sync.WaitGroup // see Options.Parked
	redact  func(string) string
	log     *slog.Logger
}

// Handlers, grouped by subject.
type (
	requests  struct{ shared } // one request, from its creation to its response
	sessions  struct{ shared } // the data of a session or a channel
	exchanges struct{ shared } // formats of other systems
	standing  struct{ shared } // grants and linked accounts
	evidence  struct{ shared } // the audit log and public keys
	streams   struct {         // events and WebSockets
		shared
		attended *attended
		origins  origins
	}
	status struct {
		shared
		ready  func(context.Context) error // see Options.Ready
		keysOK func() bridge.Health
	}
)

// waitContext returns a context that ends after wait or when the server stops.
func (s shared) waitContext(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() { stop(); cancel() }
}

// noteDelivered records that a record has reached its agent.
func (s shared) noteDelivered(ctx context.Context, rec bridge.Record) {
	if err := s.engine.Delivered(context.WithoutCancel(ctx), rec); err != nil {
		s.log.Warn("delivery not recorded", "id", rec.Interaction.ID, "error", err)
	}
}

// load returns a record that the caller may see. Agents may see their own
// requests, and mayRead decides for people.
func (s shared) load(r *http.Request, p Principal) (bridge.Record, error) {
	id, err := bridge.ParseID(r.PathValue("id"))
	if err != nil {
		return bridge.Record{}, err
	}
	look := s.engine.Get
	if p.Agent == nil {
		// People see the stored record even if it does not verify.
		look = s.engine.Inspect
	}
	rec, err := look(r.Context(), id)
	if rec.Interaction.ID != "" && p.Agent != nil && rec.Interaction.Agent != p.Agent.Name {
		return bridge.Record{}, bridge.NotFound(id)
	}
	if err == nil {
		err = s.readable(r.Context(), p, rec)
	}
	if err != nil {
		return bridge.Record{}, err
	}
	if p.Agent != nil {
		s.owners.add(&rec.Interaction)
	}
	return forReader(p, rec), nil
}

// readNow reads the record of a request that is still pending at the end of a
// wait.
func (s shared) readNow(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	rec, err := s.engine.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return &rec, nil
}
