package broker

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	catchUpEvery = 250 * time.Millisecond // reads the event streams while anybody waits
	catchUpBatch = 500
	recheckEvery = 30 * time.Second // reads each waiter's state, as a last resort
	recheckBatch = 500
	beatEvery    = 3 * time.Second
	aliveFor     = 10 * time.Second // after the last beat, waiters of a daemon count as gone
	leaveTimeout = time.Second
)

// hub wakes the callers that wait in this process.
type hub struct {
	b      *Broker
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	waiters map[bridge.ID]map[chan struct{}]struct{}
	// since is where reading the event stream of a partition goes on; only
	// partitions that have waiters.
	since map[int]string
	count map[int]int // waiters by partition
}

func newHub(b *Broker) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{b: b, cancel: cancel, waiters: map[bridge.ID]map[chan struct{}]struct{}{}, since: map[int]string{}, count: map[int]int{}}
	h.done.Go(func() { h.listen(ctx) })
	h.done.Go(func() { h.catchUp(ctx) })
	h.done.Go(func() { b.verifier.run(ctx) })
	if w := watchCluster(b.client); w != nil {
		h.done.Go(func() { w.run(ctx) })
	}
	return h
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

// Await implements bridge.Records: register, then read, then sleep until
// woken.
func (b *Broker) Await(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	ch, leave := b.hub.enter(id)
	defer func() {
		if last := leave(); last && ctx.Err() != nil {
			b.unregister(ctx, id)
		}
	}()
	for {
		reply, err := b.register(ctx, id, aliveFor)
		switch {
		case ctx.Err() != nil:
			return bridge.Record{}, ctx.Err()
		case err != nil:
			// Redis is away. The request stands there; so does the caller.
			if !bridge.Pause(ctx, catchUpEvery) {
				return bridge.Record{}, ctx.Err()
			}
			if b.hub.isClosed() {
				return bridge.Record{}, unavailable(err)
			}
			continue
		case reply[0] == "":
			return bridge.Record{}, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
		case bridge.State(reply[0]).Final(), reply[2] == "1":
			r, err := b.Load(ctx, id)
			if err == nil && r.Over() {
				return r, nil
			}
			if !bridge.Pause(ctx, catchUpEvery) { // Redis went away in between
				return bridge.Record{}, ctx.Err()
			}
			continue
		}
		b.hub.follow(id.Partition(), reply[1])
		select {
		case <-ctx.Done():
			return bridge.Record{}, ctx.Err()
		case <-ch:
		}
		if b.hub.isClosed() {
			return bridge.Record{}, bridge.Errorf(bridge.CodeUnavailable, "the daemon is stopping").WithHint("ask again for %s", id)
		}
	}
}

// register says that this daemon waits; with no time, that it does not.
func (b *Broker) register(ctx context.Context, id bridge.ID, alive time.Duration) ([]string, error) {
	return b.scripts.await.Run(ctx, b.client, []string{b.keys.record(id), b.keys.nodes(id.Partition())}, b.keys.wake(b.node), alive.Milliseconds()).StringSlice()
}

// unregister is best effort: what it leaves behind only makes a card say less.
func (b *Broker) unregister(ctx context.Context, id bridge.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if _, err := b.register(ctx, id, 0); err != nil {
		b.log.Debug("waiter not taken off", "id", id, "error", err)
	}
}

func (h *hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// enter adds a waiter. The function takes it off and tells whether it was the
// last one for the interaction.
func (h *hub) enter(id bridge.ID) (chan struct{}, func() bool) {
	ch := make(chan struct{}, 1)
	p := id.Partition()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiters[id] == nil {
		h.waiters[id] = map[chan struct{}]struct{}{}
	}
	h.waiters[id][ch] = struct{}{}
	h.count[p]++
	return ch, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiters[id], ch)
		last := len(h.waiters[id]) == 0
		if last {
			delete(h.waiters, id)
		}
		if h.count[p]--; h.count[p] == 0 {
			delete(h.count, p)
			delete(h.since, p)
		}
		return last
	}
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

func (h *hub) wake(id bridge.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.waiters[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, chans := range h.waiters {
		for ch := range chans {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}

// listen holds the subscription. go-redis reconnects it; each confirmation of
// a subscription means that wake-ups may have been missed before.
func (h *hub) listen(ctx context.Context) {
	sub := h.b.client.Subscribe(ctx, h.b.keys.wake(h.b.node))
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
				h.wake(bridge.ID(msg.Payload))
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
		h.mu.Unlock()
		for p, at := range since {
			h.readEvents(ctx, p, at)
		}
		if time.Since(beat) > beatEvery {
			beat = time.Now()
			h.beat(ctx, since)
		}
		if time.Since(last) > recheckEvery {
			last = time.Now()
			h.recheck(ctx)
		}
	}
}

// beat says in each partition that this daemon is alive and waits.
func (h *hub) beat(ctx context.Context, partitions map[int]string) {
	for p := range partitions {
		if err := h.b.scripts.beat.Run(ctx, h.b.client, []string{h.b.keys.nodes(p)}, h.b.keys.wake(h.b.node), aliveFor.Milliseconds()).Err(); err != nil {
			h.b.log.Debug("beat not stored", "error", err)
		}
	}
}

func (h *hub) readEvents(ctx context.Context, partition int, at string) {
	msgs, err := h.b.client.XRangeN(ctx, h.b.keys.events(partition), "("+at, "+", catchUpBatch).Result()
	if err != nil || len(msgs) == 0 {
		return // tried again in a moment
	}
	for _, m := range msgs {
		if t := m.Values["t"]; t == string(bridge.EventResponse) || t == string(bridge.EventQueued) {
			h.wake(bridge.ID(m.Values["i"].(string)))
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
		_, _ = h.b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for n, id := range batch {
				states[n] = p.HMGet(ctx, h.b.keys.record(id), "st", "q")
			}
			return nil
		})
		for n, id := range batch {
			if f := states[n].Val(); len(f) < 2 || f[0] != string(bridge.StatePending) || f[1] != nil {
				h.wake(id)
			}
		}
	}
}
