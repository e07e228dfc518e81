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
	catchUpEvery = 250 * time.Millisecond // interval of reading the event streams while callers wait
	catchUpBatch = 500
	// recheckEvery is the interval of reading the state of every waiter's
	// interaction, as a last resort. It grows with each recheckMany of them.
	recheckEvery = 30 * time.Second
	recheckMany  = 100_000
	recheckBatch = 500
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

	mu      sync.Mutex
	closed  bool
	waiters map[bridge.ID][]waiter
	// reserved holds the waiters of callers that have opened an interaction and
	// are about to wait for it.
	reserved map[bridge.ID]reservation
	// since is the position in the event stream of each partition that has
	// waiters.
	since map[int]string
	count map[int]int       // waiters by partition
	beat  map[int]time.Time // when the daemon last sent a beat in a partition
}

// waiter receives the record of an interaction once it is resolved, or nil if
// the caller has to read it.
type waiter chan *bridge.Record

type reservation struct {
	waiter
	leave func() bool
	at    time.Time
}

func newHub(c *core) *hub {
	return &hub{
		core: c, over: make(chan []ended, overWaiting),
		waiters: map[bridge.ID][]waiter{}, reserved: map[bridge.ID]reservation{},
		since: map[int]string{}, count: map[int]int{}, beat: map[int]time.Time{},
	}
}

// start starts the background work of the process, including that of the
// verifier.
func (h *hub) start(v *verifier) {
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel, h.ended = cancel, ctx.Done()
	h.done.Go(func() { h.listen(ctx) })
	h.done.Go(func() { h.catchUp(ctx) })
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

// enter adds a waiter, or takes the one that the opening reserved, which is
// already registered. The returned function removes it and reports whether it
// was the last one for the interaction.
func (h *hub) enter(id bridge.ID) (ch waiter, leave func() bool, registered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, ok := h.reserved[id]; ok {
		delete(h.reserved, id)
		return r.waiter, r.leave, true
	}
	ch, leave = h.add(id)
	return ch, leave, false
}

// reserve adds the waiter of a caller that opens an interaction to wait for it.
func (h *hub) reserve(id bridge.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch, leave := h.add(id)
	h.reserved[id] = reservation{ch, leave, time.Now()}
}

// drop removes a reserved waiter unless its caller waits. It reports whether
// that was the last one for the interaction.
func (h *hub) drop(id bridge.ID) bool {
	h.mu.Lock()
	r, ok := h.reserved[id]
	delete(h.reserved, id)
	h.mu.Unlock()
	return ok && r.leave()
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
func (h *hub) add(id bridge.ID) (waiter, func() bool) {
	ch := make(waiter, 1)
	h.waiters[id] = append(h.waiters[id], ch)
	h.count[id.Partition()]++
	return ch, func() bool { return h.remove(id, ch) }
}

func (h *hub) remove(id bridge.ID, ch waiter) bool {
	p := id.Partition()
	h.mu.Lock()
	defer h.mu.Unlock()
	rest := slices.DeleteFunc(h.waiters[id], func(w waiter) bool { return w == ch })
	if len(rest) > 0 {
		h.waiters[id] = rest
	} else {
		delete(h.waiters, id)
	}
	if h.count[p]--; h.count[p] == 0 {
		delete(h.count, p)
		delete(h.since, p)
		delete(h.beat, p)
	}
	return len(rest) == 0
}

// beats reports whether a beat is due in a partition. If so, the caller must
// send it.
func (h *hub) beats(partition int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.beat[partition]) < beatEvery {
		return false
	}
	h.beat[partition] = time.Now()
	return true
}

// follow starts reading the events of a partition. Now is the server's clock,
// in ms, when the state was read.
func (h *hub) follow(partition int, now string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.since[partition]; ok {
		return
	}
	n, _ := strconv.ParseInt(now, 10, 64) // await.lua returns a number
	h.since[partition] = strconv.FormatInt(n-1, 10) + "-0"
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
	rec, err := h.read(e.id, e.record, nil)
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
		out[n] = len(h.waiters[bridge.ID(id)]) > 0
	}
	return out
}

// wake wakes the callers that wait for an interaction, with its record, which
// may be nil.
func (h *hub) wake(id bridge.ID, rec *bridge.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wake(h.waiters[id], rec)
}

func wake(waiters []waiter, rec *bridge.Record) {
	for _, ch := range waiters {
		select {
		case ch <- rec:
		default:
		}
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, waiters := range h.waiters {
		wake(waiters, nil)
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
				h.recheck(ctx)
			}
		}
	}
}

// catchUp reads the event streams of the partitions that have waiters.
func (h *hub) catchUp(ctx context.Context) {
	last, beat := time.Now(), time.Now()
	for bridge.Pause(ctx, catchUpEvery) {
		h.mu.Lock()
		since := make(map[int]string, len(h.since))
		for p, at := range h.since {
			since[p] = at
		}
		waiting := len(h.waiters)
		h.mu.Unlock()
		for p, at := range since {
			h.readEvents(ctx, p, at)
		}
		if time.Since(beat) > beatEvery {
			beat = time.Now()
			h.beatAll(ctx, since)
			h.abandoned(ctx)
		}
		if time.Since(last) > recheckEvery*time.Duration(1+waiting/recheckMany) {
			last = time.Now()
			h.recheck(ctx)
		}
	}
}

// beatAll sends a beat in each of the partitions.
func (h *hub) beatAll(ctx context.Context, partitions map[int]string) {
	for p := range partitions {
		keys := []string{h.keys.nodes(p)}
		err := h.run(ctx, p, h.scripts.beat, keys, h.keys.wake(h.node), aliveFor.Milliseconds()).Err()
		if err != nil {
			h.log.Debug("beat not stored", "error", err)
		}
	}
}

func (h *hub) readEvents(ctx context.Context, partition int, at string) {
	msgs, err := h.client.XRangeN(ctx, h.keys.events(partition), "("+at, "+", catchUpBatch).Result()
	if err != nil || len(msgs) == 0 {
		return // the next tick retries
	}
	for _, m := range msgs {
		if t := m.Values["t"]; t == string(bridge.EventResponse) || t == string(bridge.EventQueued) {
			h.wake(bridge.ID(m.Values["i"].(string)), nil)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.since[partition] == at {
		h.since[partition] = msgs[len(msgs)-1].ID
	}
}

// recheck reads the state of everything that callers wait for, and wakes the
// callers whose interaction is no longer pending.
func (h *hub) recheck(ctx context.Context) {
	h.mu.Lock()
	ids := make([]bridge.ID, 0, len(h.waiters))
	for id := range h.waiters {
		ids = append(ids, id)
	}
	h.mu.Unlock()
	for len(ids) > 0 {
		batch := ids[:min(recheckBatch, len(ids))]
		ids = ids[len(batch):]
		states := make([]*redis.SliceCmd, len(batch))
		// A command that failed counts as "not pending": its waiters read the
		// record themselves.
		_, _ = h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for n, id := range batch {
				states[n] = p.HMGet(ctx, h.keys.record(id), fieldState, fieldQueued, fieldPacked)
			}
			return nil
		})
		for n, id := range batch {
			if f := states[n].Val(); len(f) < 3 || f[0] != nil || f[1] != nil || f[2] == nil {
				h.wake(id, nil)
			}
		}
	}
}
