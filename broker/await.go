package broker

import (
	"context"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// Await implements bridge.Records: it registers, then reads, then sleeps until
// woken.
func (rs *records) Await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	ch := make(sleeper, 1)
	registered := rs.hub.enter(id, ch)
	defer func() {
		if last := rs.hub.remove(id, ch); last && ctx.Err() != nil {
			rs.hub.unregister(ctx, id)
		}
	}()
	for {
		if !registered {
			if rec, err := rs.look(ctx, id); rec != nil || err != nil {
				return rec, err
			}
		}
		registered = false
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case rec := <-ch:
			if rec, err := rs.woken(ctx, id, rec); rec != nil || err != nil {
				return rec, err
			}
		}
	}
}

// woken handles a wake-up with the record, or with nil if the record has to be
// read. It returns nil without an error if the caller has to keep waiting.
func (rs *records) woken(ctx context.Context, id bridge.ID, rec *bridge.Record) (*bridge.Record, error) {
	if rs.hub.isClosed() {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the daemon is stopping").WithHint("wait again for interaction %s", id)
	}
	if rec == nil {
		got, err := rs.load(ctx, id)
		if err != nil {
			return nil, nil //nolint:nilerr,nilnil // the next look reads it again
		}
		rec = &got
	}
	if !rec.Over() {
		return nil, nil //nolint:nilnil // the comment above defines this result
	}
	return rec, nil
}

// look registers a waiter. It returns the record if it is resolved, and nil
// otherwise. While Redis is unreachable it retries, because the request stays
// open there.
func (rs *records) look(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	for {
		alive := ""
		if rs.hub.beats() {
			alive = strconv.FormatInt(aliveFor.Milliseconds(), 10)
		}
		reply, err := rs.hub.register(ctx, id, alive)
		if err == nil && reply[0] == "" {
			return nil, bridge.NotFound(id)
		}
		if err == nil && !bridge.State(reply[0]).Final() && reply[2] != "1" {
			rs.hub.follow(reply[1])
			return nil, nil //nolint:nilnil // the comment above defines this result
		}
		if err == nil {
			if rec, err := rs.load(ctx, id); err == nil && rec.Over() {
				return &rec, nil
			}
		}
		if !bridge.Pause(ctx, catchUpEvery) {
			return nil, ctx.Err()
		}
		if rs.hub.isClosed() {
			return nil, bridge.Errorf(bridge.CodeUnavailable, "the daemon is stopping").WithHint("wait again for interaction %s", id)
		}
	}
}

// register records in Redis that this daemon waits, and for how many ms it
// counts as alive. "0" removes the registration.
func (h *hub) register(ctx context.Context, id bridge.ID, alive string) ([]string, error) {
	keys := []string{h.keys.record(id), h.keys.nodes()}
	return h.run(ctx, h.scripts.await, keys, h.keys.wake(h.node), alive).StringSlice()
}

// unregister makes one attempt. If it fails, Redis counts a caller that has
// left, which affects only what a card says.
func (h *hub) unregister(ctx context.Context, id bridge.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if _, err := h.register(ctx, id, "0"); err != nil {
		h.log.Debug("waiter not removed", "id", id, "error", err)
	}
}
