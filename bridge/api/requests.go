// Path of a request: this file → open.go of bridge/engine.

package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

// create opens the request in a body, and responds with its record.
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

// open opens the request in a body. The caller may wait for its response.
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
// records that the record has reached its agent. The record may be unread if
// the caller waits.
func (s shared) deliver(w http.ResponseWriter, r *http.Request, status int, rec *bridge.Record, p Principal, wait time.Duration) error {
	d := &delivery{shared: s, id: rec.Interaction.ID, repeated: rec.Repeated, status: status, caller: r.Header.Get(callerHeader)}
	if p.Agent != nil {
		d.agent, d.cancels = p.Agent.Name, rec.Interaction.CancelOnDisconnect
	}
	if wait == 0 || rec.Over() {
		return d.handOver(r.Context(), w, rec)
	}
	return s.wait(w, r, wait, d.await)
}

// delivery is a call that gets the record of a request.
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
	d.engine.AwaitThen(ctx, d.id, func(result core.Awaited) {
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
		return d.handOver(ctx, w, &rec)
	}
}

// handOver writes a record to an agent, or to a person if the agent is empty,
// and records that it has reached its agent. An approval with a key goes to
// only one caller.
func (d *delivery) handOver(ctx context.Context, w http.ResponseWriter, rec *bridge.Record) error {
	theirs := d.agent != "" && d.agent == rec.Interaction.Agent
	if theirs {
		err := d.engine.Sending(context.WithoutCancel(ctx), *rec, bridge.CallerName(d.caller))
		if spent, ok := errors.AsType[*bridge.RepeatedError](err); ok {
			return write(w, http.StatusOK, repeated{true, spent.Interaction})
		}
		if err != nil {
			return err
		}
	} else {
		seen := forReader(Principal{}, *rec)
		rec = &seen
	}
	received := write(w, d.status, rec) == nil && http.NewResponseController(w).Flush() == nil
	if received && theirs {
		d.noteDelivered(ctx, *rec)
	}
	return nil
}
