package broker

import (
	"context"
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// deferred is a caller of AwaitThen. It has a goroutine only while it reads: at the
// beginning and after each wake-up.
type deferred struct {
	rs   *records
	ctx  context.Context
	id   bridge.ID
	then func(bridge.Awaited)
	stop func() bool // stops following ctx

	mu    sync.Mutex
	busy  bool // a goroutine runs
	again bool // it was woken since that goroutine began to read
	over  bool
}

// AwaitThen implements bridge.Records.
func (rs *records) AwaitThen(ctx context.Context, id bridge.ID, then func(bridge.Awaited)) {
	d := &deferred{rs: rs, ctx: ctx, id: id, then: then, busy: true}
	registered := rs.hub.enter(id, d)
	d.stop = context.AfterFunc(ctx, func() { d.wake(nil) })
	if registered && d.rest() {
		return
	}
	go d.run(registered, nil)
}

// wake implements waiter. It is also called when ctx ends.
func (d *deferred) wake(rec *bridge.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.over:
	case d.busy:
		d.again = true
	default:
		d.busy = true
		go d.run(true, rec)
	}
}

// rest notes that the goroutine ends. It returns false if the caller was woken
// in the meantime.
func (d *deferred) rest() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.again {
		d.again = false
		return false
	}
	d.busy = false
	return true
}

// run does what Await does when it is woken, with the record or nil, or else what
// it does at the beginning.
func (d *deferred) run(woken bool, rec *bridge.Record) {
	for {
		if err := d.ctx.Err(); err != nil {
			d.finish(nil, err)
			return
		}
		var end *bridge.Record
		var err error
		if woken {
			end, err = d.rs.woken(d.ctx, d.id, rec)
		}
		if end == nil && err == nil {
			end, err = d.rs.look(d.ctx, d.id)
		}
		if end != nil || err != nil {
			d.finish(end, err)
			return
		}
		if d.rest() {
			return
		}
		woken, rec = true, nil
	}
}

func (d *deferred) finish(end *bridge.Record, err error) {
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	d.stop()
	if last := d.rs.hub.remove(d.id, d); last && d.ctx.Err() != nil {
		d.rs.hub.unregister(d.ctx, d.id)
	}
	d.then(func() (*bridge.Record, error) { return end, err })
}
