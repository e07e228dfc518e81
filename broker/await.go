package broker

import (
	"context"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// Await implements bridge.Records: register, then read, then sleep until
// woken.
func (b *Broker) Await(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	rec, err := b.await(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	return *rec, nil
}

// await has no record on its stack, as there are many that sleep here.
func (b *Broker) await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	ch, leave, registered := b.hub.enter(id)
	defer func() {
		if last := leave(); last && ctx.Err() != nil {
			b.unregister(ctx, id)
		}
	}()
	for {
		if !registered {
			if rec, err := b.look(ctx, id); rec != nil || err != nil {
				return rec, err
			}
		}
		registered = false
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case rec := <-ch:
			if rec, err := b.woken(ctx, id, rec); rec != nil || err != nil {
				return rec, err
			}
		}
	}
}

// woken is what a caller does that was woken: with the record, or with nil to
// read it. It is nil again where there is reason to wait on.
func (b *Broker) woken(ctx context.Context, id bridge.ID, rec *bridge.Record) (*bridge.Record, error) {
	if b.hub.isClosed() {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the daemon is stopping").WithHint("ask again for %s", id)
	}
	if rec == nil {
		got, err := b.Load(ctx, id)
		if err != nil {
			return nil, nil //nolint:nilerr,nilnil // who waits on looks again
		}
		rec = &got
	}
	if !rec.Over() {
		return nil, nil //nolint:nilnil // as the comment says
	}
	return rec, nil
}

// look registers a waiter, and reads the record if it is over; nil if it is
// not. While Redis is unreachable it tries again: the request stands there, and so
// does the caller.
func (b *Broker) look(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	for {
		alive := ""
		if b.hub.beats(id.Partition()) {
			alive = strconv.FormatInt(aliveFor.Milliseconds(), 10)
		}
		reply, err := b.register(ctx, id, alive)
		if err == nil && reply[0] == "" {
			return nil, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
		}
		if err == nil && !bridge.State(reply[0]).Final() && reply[2] != "1" {
			b.hub.follow(id.Partition(), reply[1])
			return nil, nil //nolint:nilnil // as the comment says
		}
		if err == nil {
			if rec, err := b.Load(ctx, id); err == nil && rec.Over() {
				return &rec, nil
			}
		}
		if !bridge.Pause(ctx, catchUpEvery) {
			return nil, ctx.Err()
		}
		if b.hub.isClosed() {
			return nil, bridge.Errorf(bridge.CodeUnavailable, "the daemon is stopping").WithHint("ask again for %s", id)
		}
	}
}

// register says that this daemon waits, and for how many ms it is alive; 0:
// that it does not wait.
func (b *Broker) register(ctx context.Context, id bridge.ID, alive string) ([]string, error) {
	p := id.Partition()
	keys := []string{b.keys.record(id), b.keys.nodes(p)}
	return b.run(ctx, p, b.scripts.await, keys, b.keys.wake(b.node), alive).StringSlice()
}

// unregister is best effort: what it leaves behind only makes a card say less.
func (b *Broker) unregister(ctx context.Context, id bridge.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if _, err := b.register(ctx, id, "0"); err != nil {
		b.log.Debug("waiter not taken off", "id", id, "error", err)
	}
}
