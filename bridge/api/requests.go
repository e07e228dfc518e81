// Path of a request: this file → open.go of bridge/engine.

package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
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
		keysOK func() bridge.Health
	}
)

func (s requests) create(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	rec, err := s.open(r, p, wait)
	if spent, ok := errors.AsType[*bridge.RepeatedError](err); ok {
		return write(w, http.StatusOK, repeated{true, spent.Interaction})
	}
	if err != nil {
		return err
	}
	s.owners.add(&rec.Interaction)
	if rec.Interaction.Kind == bridge.KindNotice {
		s.engine.Sessions.Noticed(r.Context(), rec.Interaction)
	}
	w.Header().Set("Location", "/v1/interactions/"+string(rec.Interaction.ID))
	return s.deliver(w, r, created(rec), rec, p, wait)
}

// created returns the status of a call that opens a request.
func created(rec *bridge.Record) int {
	if rec.Repeated {
		return http.StatusOK
	}
	return http.StatusCreated
}

// open opens the request in a body.
func (s requests) open(r *http.Request, p Principal, wait time.Duration) (*bridge.Record, error) {
	req, err := requestOf(r)
	if err != nil {
		return nil, err
	}
	req.Awaited = wait > 0
	rec, err := s.engine.Open(r.Context(), *p.Agent, req, req.CallID.Key)
	return &rec, err
}

// requestOf returns the request that a call sends.
func requestOf(r *http.Request) (req bridge.Request, err error) {
	if err := read(r, &req); err != nil {
		return req, err
	}
	if req.CallID, err = callOf(r); err != nil {
		return req, err
	}
	if v := r.URL.Query().Get("now"); v != "" {
		if req.Now, err = truth("now", v); err != nil {
			return req, err
		}
	}
	req.Doubts, err = doubtsOf(r)
	return req, err
}

// deliver responds with a record when it is final or the wait is over, and
// notes that the record has reached its agent. The record may be unread if the
// caller waits.
func (s shared) deliver(w http.ResponseWriter, r *http.Request, status int, rec *bridge.Record, p Principal, wait time.Duration) error {
	agent := ""
	if p.Agent != nil {
		agent = p.Agent.Name
	}
	if wait == 0 || rec.Over() {
		return s.handOver(r.Context(), w, status, rec, agent, r.Header.Get(callerHeader))
	}
	cancels := rec.Interaction.CancelOnDisconnect && agent != ""
	d := &delivery{s, rec.Interaction.ID, cancels, rec.Repeated, status, agent, r.Header.Get(callerHeader)}
	return s.wait(w, r, wait, d.await)
}

// delivery is a call that waits for a request.
type delivery struct {
	shared
	id       bridge.ID
	cancels  bool // CancelOnDisconnect if an agent waits
	repeated bool // Record.Repeated
	status   int
	agent    string // empty for a person
	caller   string
}

// await waits for the request without a goroutine.
func (d *delivery) await(here, ctx context.Context, done func(func() answer)) {
	d.engine.AwaitThen(ctx, d.id, func(result bridge.Awaited) {
		done(func() answer {
			end, err := result()
			return d.answer(here, ctx, end, err)
		})
	})
}

// answer returns the answer for the result of a wait.
func (d *delivery) answer(here, ctx context.Context, end *bridge.Record, err error) answer {
	if err != nil && here.Err() != nil {
		d.abandoned(d.id, d.cancels, d.caller)
		return nil
	}
	if err != nil && ctx.Err() != nil {
		end, err = d.readNow(here, d.id)
	}
	if err != nil {
		return refusal(err)
	}
	rec := *end
	rec.Repeated = d.repeated
	return func(ctx context.Context, w http.ResponseWriter) error {
		return d.handOver(ctx, w, d.status, &rec, d.agent, d.caller)
	}
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

// handOver writes a record to an agent, or to a person if the agent is empty,
// and records that it has reached its agent. An approval with a key goes to
// only one caller.
func (s shared) handOver(ctx context.Context, w http.ResponseWriter, status int, rec *bridge.Record, agent, caller string) error {
	theirs := agent != "" && agent == rec.Interaction.Agent
	if theirs {
		err := s.engine.Sending(context.WithoutCancel(ctx), *rec, bridge.CallerName(caller))
		if spent, ok := errors.AsType[*bridge.RepeatedError](err); ok {
			return write(w, http.StatusOK, repeated{true, spent.Interaction})
		}
		if err != nil {
			return err
		}
	}
	if !theirs {
		seen := forReader(Principal{}, *rec)
		rec = &seen
	}
	if err := write(w, status, rec); err != nil {
		return nil //nolint:nilerr // not delivered
	}
	if err := http.NewResponseController(w).Flush(); err != nil || !theirs {
		return nil //nolint:nilerr // not delivered
	}
	s.noteDelivered(ctx, *rec)
	return nil
}

// waitContext returns a context that ends after wait or when the server stops.
func (s shared) waitContext(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() { stop(); cancel() }
}

// noteDelivered notes that a record has reached its agent.
func (s shared) noteDelivered(ctx context.Context, rec bridge.Record) {
	if err := s.engine.Delivered(context.WithoutCancel(ctx), rec); err != nil {
		s.log.Warn("delivery not recorded", "id", rec.Interaction.ID, "error", err)
	}
}

// abandoned is called when a caller that waits for a request disconnects. The
// request stays pending unless cancels is set, which is its CancelOnDisconnect.
func (s shared) abandoned(id bridge.ID, cancels bool, caller string) {
	if !cancels || s.closing.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), abandonTimeout)
	defer cancel()
	if err := s.engine.Disconnected(ctx, id, bridge.CallerName(caller)); err != nil {
		s.log.Warn("abandoned interaction not cancelled", "id", id, "error", err)
	}
}

// releaseUnattended cancels requests that no one can answer anymore. It does
// nothing while the daemon stops, because its front ends will reconnect.
func (s shared) releaseUnattended(ctx context.Context, session string) {
	if s.closing.Err() != nil {
		return
	}
	if err := s.engine.ReleaseUnattended(ctx, session); err != nil && ctx.Err() == nil {
		s.log.Warn("requests without a front end not cancelled", "session", session, "error", err)
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

func (s requests) get(w http.ResponseWriter, r *http.Request, p Principal) error {
	wait, err := waiting(r)
	if err != nil {
		return err
	}
	if wait > 0 && p.Agent != nil {
		id := bridge.ID(r.PathValue("id"))
		if o, known := s.owners.of(id); known && o.agent == p.Agent.Name {
			return s.deliver(w, r, http.StatusOK, o.unread(id), p, wait)
		}
	}
	rec, err := s.load(r, p)
	if err != nil {
		return err
	}
	return s.deliver(w, r, http.StatusOK, &rec, p, wait)
}

func (s requests) list(w http.ResponseWriter, r *http.Request, p Principal) error {
	q := r.URL.Query()
	f := bridge.ListFilter{State: bridge.State(q.Get("state")), Session: q.Get("session"), Text: q.Get("text"), Cursor: q.Get("cursor")}
	states := []bridge.State{"", bridge.StatePending, bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied, bridge.StateExpired, bridge.StateCancelled, bridge.StateSuperseded, bridge.StateUndeliverable}
	if !slices.Contains(states, f.State) {
		return bridge.Errorf(bridge.CodeInvalid, "state: unknown state %q", f.State)
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 200 {
			return bridge.Errorf(bridge.CodeInvalid, "limit: %q is out of range (1 to 200)", v)
		}
		f.Limit = n
	}
	f.AsStored = p.Agent == nil
	if p.Agent != nil {
		f.Agent = p.Agent.Name
	}
	page, err := s.listReadable(r.Context(), p, f)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, page)
}

func (s requests) respond(w http.ResponseWriter, r *http.Request, p Principal) error {
	var a bridge.Reply
	if err := read(r, &a); err != nil {
		return err
	}
	id, err := bridge.ParseID(r.PathValue("id"))
	if err != nil {
		return err
	}
	rec, err := s.engine.Answer(r.Context(), id, p.actor(), a)
	if err != nil {
		if _, hidden := s.load(r, p); hidden != nil {
			return hidden // a caller that may not read a request gets no details about the answer
		}
		return err
	}
	return write(w, http.StatusOK, bridge.Recorded{ID: rec.Interaction.ID, State: rec.State, Revision: rec.Revision})
}
