package broker

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	catchUpEvery = 250 * time.Millisecond // reads the event streams while anybody waits
	catchUpBatch = 500
	recheckEvery = 30 * time.Second // reads each waiter's state, as a last resort; times more with more of them
	recheckMany  = 100_000
	recheckBatch = 500
	beatEvery    = 3 * time.Second
	aliveFor     = 10 * time.Second // after the last beat, waiters of a daemon count as gone
	leaveTimeout = time.Second
	overWaiting  = 16               // batches
	reservedFor  = 10 * time.Second // how long a caller that has opened may take to wait
)

// hub wakes the callers that wait in this process.
type hub struct {
	*core
	cancel context.CancelFunc
	ended  <-chan struct{}  // closed when the hub is
	over   chan []bridge.ID // whose deadlines this process has applied
	done   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	waiters map[bridge.ID][]waiter
	// reserved are the waiters of callers that have opened, and wait next.
	reserved map[bridge.ID]reservation
	// since is where reading the event stream of a partition goes on; only
	// partitions that have waiters.
	since map[int]string
	count map[int]int       // waiters by partition
	beat  map[int]time.Time // when the daemon last said in a partition that it is alive
}

// waiter is told what an interaction's record is, once it is over; nil: it has
// to look for itself.
type waiter chan *bridge.Record

type reservation struct {
	waiter
	leave func() bool
	at    time.Time
}

func newHub(c *core) *hub {
	return &hub{
		core: c, over: make(chan []bridge.ID, overWaiting),
		waiters: map[bridge.ID][]waiter{}, reserved: map[bridge.ID]reservation{},
		since: map[int]string{}, count: map[int]int{}, beat: map[int]time.Time{},
	}
}

// start starts the background work of the process, a verifier's included.
func (h *hub) start(v *verifier) {
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel, h.ended = cancel, ctx.Done()
	h.done.Go(func() { h.listen(ctx) })
	h.done.Go(func() { h.catchUp(ctx) })
	h.done.Go(func() { h.tellOver(ctx) })
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

// enter adds a waiter, or takes the one that its opening reserved: that is
// registered. The function takes it off and reports whether it was the last one
// for the interaction.
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

// drop takes a reserved waiter off, unless its caller waits.
func (h *hub) drop(id bridge.ID) bool {
	h.mu.Lock()
	r, ok := h.reserved[id]
	delete(h.reserved, id)
	h.mu.Unlock()
	return ok && r.leave()
}

// abandoned takes the waiters off whose callers have not come to wait.
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

// add adds a waiter; h.mu is held.
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

// beats reports whether it is time to say in a partition that this daemon is
// alive, which whoever asks then does.
func (h *hub) beats(partition int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.beat[partition]) < beatEvery {
		return false
	}
	h.beat[partition] = time.Now()
	return true
}

// follow makes sure that the partition's events are read from now on; now is
// the server's clock, in ms, at a moment when the state was read.
func (h *hub) follow(partition int, now string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.since[partition]; ok {
		return
	}
	n, _ := strconv.ParseInt(now, 10, 64) // from our own script
	h.since[partition] = strconv.FormatInt(n-1, 10) + "-0"
}

// tellOver wakes the callers of this process whose deadlines it has applied.
func (h *hub) tellOver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ids := <-h.over:
			ids = slices.DeleteFunc(ids, func(id bridge.ID) bool { return !h.awaited(id) })
			records, err := h.loadAll(ctx, ids)
			for k, id := range ids {
				if err != nil {
					h.wake(id, nil) // its callers look for themselves
				} else {
					h.wake(id, records[k])
				}
			}
		}
	}
}

// awaited reports whether a caller of this process waits for an interaction.
func (h *hub) awaited(id bridge.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.waiters[id]) > 0
}

// wake wakes the callers that wait for an interaction; rec is its record, or
// nil.
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

// listen holds the subscription. go-redis reconnects it; each confirmation of
// a subscription means that wake-ups may have been missed before.
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
			h.sayAlive(ctx, since)
			h.abandoned(ctx)
		}
		if time.Since(last) > recheckEvery*time.Duration(1+waiting/recheckMany) {
			last = time.Now()
			h.recheck(ctx)
		}
	}
}

// sayAlive says in each partition that this daemon is alive and waits.
func (h *hub) sayAlive(ctx context.Context, partitions map[int]string) {
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
		return // tried again in a moment
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

// recheck reads the state of everything that is waited for and wakes what is
// no longer pending.
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
		// Errors of single commands count as "not pending": their waiters look
		// for themselves.
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
