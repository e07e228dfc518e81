package core

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

const (
	rereadBatch = 200 // number of interactions that are read again together
	readAgain   = 250 * time.Millisecond
	reservedFor = 10 * time.Second // maximum time from an opening to the start of the wait
)

// hub wakes the callers that wait in this process. A caller registers (enter), reads
// (look), and sleeps. The caller that opens an interaction is registered before the
// opening (reserve). So each change that a caller has not read has an entry in the journal
// after the position of the hub. A caller is woken by:
//   - a turn or a sweep of this process that ends or defers the interaction (announce), or
//     a turn that finds that another process did so (turn). They pass the record.
//   - the journal (follow), without the record, so the caller reads it. While this process
//     has a turn of the interaction, the journal leaves the wake-up to the last of these
//     turns (locks.leaveToTurn). This avoids useless reads.
//   - reread, if entries of the journal may have been missed
//   - close
type hub struct {
	*shared
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	waiters  map[bridge.ID][]waiter
	reserved map[bridge.ID]*reservation
	count    int
}

// waiter receives the record of an interaction once it is over. It receives nil
// if the caller has to read the record. It does not block, and does not use the
// hub.
type waiter interface{ wake(*bridge.Record) }

// reservation is the waiter of a caller that has opened an interaction and is about to
// wait for it. It keeps the last wake-up for the caller. The hub's mutex protects it.
type reservation struct {
	woken bool
	rec   *bridge.Record
	at    time.Time
}

func (r *reservation) wake(rec *bridge.Record) { r.woken, r.rec = true, rec }

func newHub(s *shared) *hub {
	return &hub{shared: s, waiters: map[bridge.ID][]waiter{}, reserved: map[bridge.ID]*reservation{}}
}

// start starts the background work. It reads the position in the journal first,
// because no later entry may be missed.
func (in *interactions) start(ctx context.Context) error {
	last, err := in.db.Newest(ctx, broker.Journal, "", 1)
	if err != nil {
		return documents.Public(err)
	}
	at := "0-0"
	if len(last) > 0 {
		at = last[0].ID
	}
	run, cancel := context.WithCancel(context.Background())
	in.hub.cancel = cancel
	in.hub.done.Go(func() { in.db.Follow(run, at, in.follow, func() { in.reread(run) }) })
	in.hub.done.Go(func() { in.verifier.run(run) })
	in.hub.done.Go(func() {
		for bridge.Pause(run, reservedFor) {
			in.hub.dropOld()
		}
	})
	return nil
}

func (in *interactions) close() {
	h := in.hub
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.done.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.waiters {
		for _, w := range all {
			w.wake(nil)
		}
	}
}

// follow wakes the callers of interactions that the journal reports as closed or
// deferred. If this process is changing such an interaction, that change wakes
// its callers instead; see leaveToTurn.
func (in *interactions) follow(entries []broker.Entry) {
	for _, e := range entries {
		t, id := bridge.EventType(e.Get("t")), bridge.ID(e.Get("i"))
		if (t == bridge.EventResponse || t == bridge.EventQueued) && !in.locks.leaveToTurn(id) {
			in.hub.wake(id, nil)
		}
	}
}

// reread reads the interactions that callers wait for, because entries of the
// journal may have been missed. If an interaction is gone, its caller finds out
// by reading.
func (in *interactions) reread(ctx context.Context) {
	in.hub.mu.Lock()
	ids := make([]bridge.ID, 0, len(in.hub.waiters))
	for id := range in.hub.waiters {
		ids = append(ids, id)
	}
	in.hub.mu.Unlock()
	for part := range slices.Chunk(ids, rereadBatch) {
		for {
			all, err := in.Read(ctx, part)
			if err == nil {
				in.wakeOver(part, all)
				break
			}
			if !bridge.Pause(ctx, readAgain) {
				return
			}
		}
	}
}

// wakeOver wakes the callers of interactions that are over or gone.
func (in *interactions) wakeOver(ids []bridge.ID, all []Found) {
	for n, f := range all {
		if f.Err != nil {
			in.hub.wake(ids[n], nil)
		} else if r := in.Record(f.Docs); r.Over() {
			in.hub.wake(ids[n], r)
		}
	}
}

func (h *hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// enter adds a waiter. It reports whether the waiter replaces the one that was
// reserved before the opening. In that case, it has missed no change.
func (h *hub) enter(id bridge.ID, w waiter) (registered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		defer w.wake(nil)
	}
	r, ok := h.reserved[id]
	if !ok {
		h.add(id, w)
		return false
	}
	delete(h.reserved, id)
	all := h.waiters[id]
	all[slices.Index(all, waiter(r))] = w
	if r.woken {
		w.wake(r.rec)
	}
	return true
}

// reserve adds a waiter for a caller that opens an interaction in order to wait
// for it.
func (h *hub) reserve(id bridge.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &reservation{at: time.Now()}
	h.add(id, r)
	h.reserved[id] = r
}

// drop removes a reserved waiter unless its caller has started to wait.
func (h *hub) drop(id bridge.ID) {
	h.mu.Lock()
	r, ok := h.reserved[id]
	delete(h.reserved, id)
	h.mu.Unlock()
	if ok {
		h.remove(id, r)
	}
}

// dropOld removes reserved waiters whose callers did not start to wait.
func (h *hub) dropOld() {
	var ids []bridge.ID
	h.mu.Lock()
	for id, r := range h.reserved {
		if time.Since(r.at) > reservedFor {
			ids = append(ids, id)
		}
	}
	h.mu.Unlock()
	for _, id := range ids {
		h.drop(id)
	}
}

// add adds a waiter. The caller must hold h.mu.
func (h *hub) add(id bridge.ID, w waiter) {
	h.waiters[id] = append(h.waiters[id], w)
	h.count++
}

// remove removes a waiter.
func (h *hub) remove(id bridge.ID, w waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rest := slices.DeleteFunc(h.waiters[id], func(o waiter) bool { return o == w })
	h.count--
	if len(rest) == 0 {
		delete(h.waiters, id)
	} else {
		h.waiters[id] = rest
	}
}

// awaits reports whether a caller of this process waits for an interaction.
func (h *hub) awaits(id bridge.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.waiters[id]) > 0
}

// waiting returns the number of waiting callers.
func (h *hub) waiting() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(h.count)
}

// wake wakes the callers that wait for an interaction. The record may be nil.
func (h *hub) wake(id bridge.ID, rec *bridge.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.waiters[id] {
		w.wake(rec)
	}
}

// Awaited returns the result of Await to a caller of AwaitThen, which calls it
// at most once.
type Awaited func() (*bridge.Record, error)

// Await calls AwaitThen, and blocks until the result arrives.
func Await(ctx context.Context, in interface {
	AwaitThen(context.Context, bridge.ID, func(Awaited))
}, id bridge.ID,
) (*bridge.Record, error) {
	done := make(chan Awaited, 1)
	in.AwaitThen(ctx, id, func(end Awaited) { done <- end })
	return (<-done)()
}

func stopping(id bridge.ID) error {
	return bridge.Errorf(bridge.CodeUnavailable, "the daemon is stopping").WithHint("wait again for interaction %s", id)
}

// look returns the record of an interaction that is over, and nil for an
// interaction that is not over. It retries while the database is unreachable,
// because the request stays open in the database. Other errors are final.
func (in *interactions) look(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	for {
		d, err := in.docs(ctx, id)
		if err == nil {
			r := in.Record(d)
			if !r.Over() {
				return nil, nil //nolint:nilnil // the comment above defines this result
			}
			return r, nil
		}
		if code := bridge.ErrorCode(err); ctx.Err() == nil && code != bridge.CodeUnavailable {
			return nil, err
		}
		if !bridge.Pause(ctx, readAgain) {
			return nil, ctx.Err()
		}
		if in.hub.isClosed() {
			return nil, stopping(id)
		}
	}
}

// callback is a caller of AwaitThen. It has a goroutine only while it reads or
// passes on the result: at the beginning, and after a wake-up.
type callback struct {
	in   *interactions
	ctx  context.Context
	id   bridge.ID
	then func(Awaited)
	stop func() bool // stops following ctx

	mu       sync.Mutex
	running  bool // in a goroutine
	again    bool // it was woken after that goroutine began to read
	finished bool
}

// AwaitThen implements Interactions: it registers, then reads, and reads again when it
// is woken without a record.
func (in *interactions) AwaitThen(ctx context.Context, id bridge.ID, then func(Awaited)) {
	cb := &callback{in: in, ctx: ctx, id: id, then: then, running: true}
	registered := in.hub.enter(id, cb)
	cb.stop = context.AfterFunc(ctx, func() { cb.wake(nil) })
	if registered && cb.rest() {
		return
	}
	go cb.run(nil)
}

// wake implements waiter. It is also called when ctx ends.
func (cb *callback) wake(rec *bridge.Record) {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	switch {
	case cb.finished:
	case cb.running:
		cb.again = true
	default:
		cb.running = true
		go cb.run(rec)
	}
}

// rest records that the goroutine ends. It returns false if the caller was
// woken in the meantime.
func (cb *callback) rest() bool {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	if cb.again {
		cb.again = false
		return false
	}
	cb.running = false
	return true
}

// run ends the wait if the interaction is over. It uses the given record, or
// reads the record if none is given.
func (cb *callback) run(rec *bridge.Record) {
	for {
		if err := cb.ctx.Err(); err != nil {
			cb.finish(nil, err)
			return
		}
		if cb.in.hub.isClosed() {
			cb.finish(nil, stopping(cb.id))
			return
		}
		var err error
		if rec == nil || !rec.Over() {
			rec, err = cb.in.look(cb.ctx, cb.id)
		}
		if rec != nil || err != nil {
			cb.finish(rec, err)
			return
		}
		if cb.rest() {
			return
		}
	}
}

func (cb *callback) finish(end *bridge.Record, err error) {
	cb.mu.Lock()
	cb.finished = true
	cb.mu.Unlock()
	cb.stop()
	cb.in.hub.remove(cb.id, cb)
	cb.then(func() (*bridge.Record, error) { return end, err })
}
