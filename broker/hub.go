package broker

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	catchUpEvery = 250 * time.Millisecond // interval of reading the journal while callers wait
	catchUpBatch = 500
	beatEvery    = 3 * time.Second
	aliveFor     = 10 * time.Second // how long the waiters of a daemon count after its last beat
	leaveTimeout = time.Second
	overWaiting  = 16               // batches
	reservedFor  = 10 * time.Second // how long a caller may take from opening to waiting
)

// hub wakes the callers that wait in this process.
type hub struct {
	*core
	cancel context.CancelFunc
	ended  <-chan struct{} // closed when the hub is closed
	over   chan []ended    // interactions that this process has expired
	done   sync.WaitGroup

	missed chan struct{} // receives when wake-ups may have been missed

	mu      sync.Mutex
	closed  bool
	waiters map[bridge.ID]*waited
	order   []*waited // all of waiters, as the sweep reads them
	swept   int       // those of order that the sweep has still to read
	// reserved holds the waiters of callers that have opened an interaction and
	// are about to wait for it.
	reserved map[bridge.ID]reservation
	since    string    // the position in the journal; empty while no one waits
	count    int       // waiters
	beat     time.Time // when the daemon last sent a beat
}

// waited is an interaction that callers of this process wait for.
type waited struct {
	id      bridge.ID
	waiters []waiter
	at      int // its index in hub.order
}

// waiter is told the record of an interaction once it is resolved, or nil if the
// caller has to read it. It does not block, and does not use the hub.
type waiter interface{ wake(*bridge.Record) }

// sleeper is the waiter of a goroutine. It holds one wake-up.
type sleeper chan *bridge.Record

func (s sleeper) wake(rec *bridge.Record) {
	select {
	case s <- rec:
	default:
	}
}

type reservation struct {
	sleeper
	at time.Time
}

func newHub(c *core) *hub {
	return &hub{
		core: c, over: make(chan []ended, overWaiting), missed: make(chan struct{}, 1),
		waiters: map[bridge.ID]*waited{}, reserved: map[bridge.ID]reservation{},
	}
}

// start starts the background work of the process, including that of the
// verifier.
func (h *hub) start(v *verifier) {
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel, h.ended = cancel, ctx.Done()
	h.done.Go(func() { h.listen(ctx) })
	h.done.Go(func() { h.catchUp(ctx) })
	h.done.Go(func() { h.sweep(ctx) })
	for range overReaders() {
		h.done.Go(func() { h.tellOver(ctx) })
	}
	h.done.Go(func() { v.run(ctx) })
	if w := watchCluster(h.client); w != nil {
		h.done.Go(func() { w.run(ctx) })
	}
}

func (h *hub) close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.done.Wait()
	h.wakeAll()
	return nil
}

func (h *hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// enter adds a waiter. It reports whether the waiter takes the place of the one
// that the opening reserved, which is already registered.
func (h *hub) enter(id bridge.ID, w waiter) (registered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.reserved[id]
	if !ok {
		h.add(id, w)
		return false
	}
	delete(h.reserved, id)
	all := h.waiters[id].waiters
	all[slices.Index(all, waiter(r.sleeper))] = w
	select {
	case rec := <-r.sleeper:
		w.wake(rec)
	default:
	}
	return true
}

// reserve adds the waiter of a caller that opens an interaction to wait for it.
func (h *hub) reserve(id bridge.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := reservation{make(sleeper, 1), time.Now()}
	h.add(id, r.sleeper)
	h.reserved[id] = r
}

// drop removes a reserved waiter unless its caller waits. It reports whether
// that was the last one for the interaction.
func (h *hub) drop(id bridge.ID) bool {
	h.mu.Lock()
	r, ok := h.reserved[id]
	delete(h.reserved, id)
	h.mu.Unlock()
	return ok && h.remove(id, r.sleeper)
}

// abandoned removes the reserved waiters whose callers did not start to wait.
func (h *hub) abandoned(ctx context.Context) {
	var ids []bridge.ID
	h.mu.Lock()
	for id, r := range h.reserved {
		if time.Since(r.at) > reservedFor {
			ids = append(ids, id)
		}
	}
	h.mu.Unlock()
	for _, id := range ids {
		if h.drop(id) {
			h.unregister(ctx, id)
		}
	}
}

// add adds a waiter. The caller must hold h.mu.
func (h *hub) add(id bridge.ID, w waiter) {
	a := h.waiters[id]
	if a == nil {
		a = &waited{id: id, at: len(h.order)}
		h.waiters[id], h.order = a, append(h.order, a)
	}
	a.waiters = append(a.waiters, w)
	h.count++
}

// remove removes a waiter, and reports whether it was the last one for the
// interaction.
func (h *hub) remove(id bridge.ID, w waiter) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.waiters[id]
	a.waiters = slices.DeleteFunc(a.waiters, func(o waiter) bool { return o == w })
	if len(a.waiters) == 0 {
		h.forget(a)
	}
	if h.count--; h.count == 0 {
		h.since, h.beat = "", time.Time{}
	}
	return len(a.waiters) == 0
}

// forget removes an interaction without waiters. The caller must hold h.mu. The
// sweep reads h.order from its end, so what moves from there to the free place
// was read before: no interaction is skipped.
func (h *hub) forget(a *waited) {
	delete(h.waiters, a.id)
	last := len(h.order) - 1
	moved := h.order[last]
	h.order[a.at], moved.at = moved, a.at
	h.order[last] = nil
	h.order = h.order[:last]
}

// beats reports whether a beat is due. If so, the caller must send it.
func (h *hub) beats() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.beat) < beatEvery {
		return false
	}
	h.beat = time.Now()
	return true
}

// follow starts reading the journal. Now is the server's clock, in ms, when the
// state was read.
func (h *hub) follow(now string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.since != "" || h.count == 0 {
		return
	}
	n, _ := strconv.ParseInt(now, 10, 64) // await.lua returns a number
	h.since = strconv.FormatInt(n-1, 10) + "-0"
}

// ended is an interaction that this process has expired, and its record since if
// a caller of this process waited for it before.
type ended struct {
	id     bridge.ID
	record *redis.MapStringStringCmd // may be nil
}

// tell wakes the callers of this process whose interactions it has expired. The
// records are decoded elsewhere, so that the next deadlines do not wait for it.
func (h *hub) tell(ctx context.Context, over []ended) {
	select {
	case h.over <- over:
	case <-ctx.Done():
	case <-h.ended:
	}
}

// overReaders returns how many goroutines decode records at once. They leave half
// of the processors to the calls of others: a process whose processors are all busy
// notices the replies of Redis only every 10 ms.
func overReaders() int { return max(1, runtime.GOMAXPROCS(0)/2) }

func (h *hub) tellOver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case over := <-h.over:
			for _, e := range over {
				h.wake(e.id, h.recordOf(e))
			}
		}
	}
}

// recordOf returns the record, or nil if the caller has to read it.
func (h *hub) recordOf(e ended) *bridge.Record {
	if e.record == nil {
		return nil
	}
	rec, err := read(e.id, e.record)
	if err != nil {
		return nil
	}
	return &rec
}

// awaited reports for each interaction whether a caller of this process waits
// for it.
func (h *hub) awaited(ids []string) []bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]bool, len(ids))
	for n, id := range ids {
		out[n] = h.waiters[bridge.ID(id)] != nil
	}
	return out
}

// wake wakes the callers that wait for an interaction, with its record, which
// may be nil.
func (h *hub) wake(id bridge.ID, rec *bridge.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.waiters[id]; a != nil {
		a.wake(rec)
	}
}

func (a *waited) wake(rec *bridge.Record) {
	for _, w := range a.waiters {
		w.wake(rec)
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.order {
		a.wake(nil)
	}
}

// listen holds the subscription, which go-redis reconnects. Each confirmation
// means that wake-ups may have been missed before it.
func (h *hub) listen(ctx context.Context) {
	sub := h.client.Subscribe(ctx, h.keys.wake(h.node))
	defer sub.Close()
	messages := sub.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(time.Second))
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok {
				return
			}
			if msg, isMessage := m.(*redis.Message); isMessage {
				h.wake(bridge.ID(msg.Payload), nil)
			} else {
				h.miss()
			}
		}
	}
}
