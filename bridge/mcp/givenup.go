package mcp

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// leaveFor limits the calls for a client that no longer waits.
const leaveFor = 3 * time.Second

// givenUp is the cancellation cause of a call that the client no longer waits
// for. nod cancels the request of such a call.
type givenUp string

// Error implements error.
func (g givenUp) Error() string { return string(g) }

const (
	clientCancelled givenUp = "the client cancelled the call"
	clientClosed    givenUp = "the client was closed"
	nodStopped      givenUp = "nod was stopped"
)

// errTooLong is the cause of a call whose client merely stopped waiting. The
// client finds the request again with the same call.
var errTooLong = errors.New("the client waited too long")

// cancelledFor returns the cause of a call that a notification with a reason
// cancels.
func cancelledFor(reason string) error {
	if reason = strings.ToLower(reason); strings.Contains(reason, "time") || strings.Contains(reason, "deadline") {
		return errTooLong
	}
	return clientCancelled
}

// joined returns a context that also ends when the client no longer waits.
func (s *server) joined(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(s.hangup, cancel)
	return ctx, func() { forget(); cancel() }
}

// openToEnd opens a request. If ctx ends in the meantime, the request may
// already be stored, so openToEnd waits a little longer for its ID.
func openToEnd(ctx context.Context, a bridge.Asker, r bridge.Request) (bridge.Record, error) {
	lingering, stop := bridge.Linger(ctx, leaveFor)
	defer stop()
	return a.Open(lingering, r, "")
}

// decide returns the record of a request once it is over. If the client gives
// up, it cancels the request.
func decide(ctx, hangup context.Context, a bridge.Asker, r bridge.Request) (bridge.Record, error) {
	rec, err := openToEnd(ctx, a, r)
	if err != nil {
		return rec, err
	}
	id := rec.Interaction.ID
	if rec, err = a.Wait(ctx, id); err != nil && ctx.Err() != nil {
		withdraw(hangup, a, id)
	}
	return rec, err
}

// withdraw cancels a request that its client has given up, with the cause of
// hangup as the reason.
func withdraw(hangup context.Context, a bridge.Asker, id bridge.ID) {
	why, ok := errors.AsType[givenUp](context.Cause(hangup))
	if !ok {
		return
	}
	late, stop := context.WithTimeout(context.WithoutCancel(hangup), leaveFor)
	defer stop()
	_, _ = a.Cancel(late, id, why.Error()) // best effort: the request expires otherwise
}

// held holds the calls of this process that wait for a request. The zero value is
// ready to use. It is safe for concurrent use.
type held struct {
	mu    sync.Mutex
	calls map[bridge.ID]int      // number of calls
	takes map[bridge.ID]*holding // the newest call that opened a request
	given map[bridge.ID]time.Time
}

// givenFor is the time for which held remembers that a call has got an answer. An
// opening of the same request that began earlier ends within this time.
const givenFor = time.Minute

// holding is a call that waits for a request.
type holding struct {
	id       bridge.ID
	all      *held
	opened   bool
	replaced func()
}

// hold records a call that continues to wait for a request.
func (h *held) hold(id bridge.ID) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add(&holding{id: id, all: h})
}

// take records a call that opened a request. It calls the function replaced of an
// earlier such call. It returns nil if a call has got the answer in the meantime.
func (h *held) take(id bridge.ID, replaced func()) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, given := h.given[id]; given {
		return nil
	}
	if was := h.takes[id]; was != nil {
		was.replaced()
	}
	c := h.add(&holding{id: id, all: h, opened: true, replaced: replaced})
	h.takes[id] = c
	return c
}

func (h *held) add(c *holding) *holding {
	if h.calls == nil {
		h.calls, h.takes, h.given = map[bridge.ID]int{}, map[bridge.ID]*holding{}, map[bridge.ID]time.Time{}
	}
	h.calls[c.id]++
	return c
}

// release ends a call, which has got the answer if answered is set. It reports
// whether no other call waits for the request, and whether a later call replaced this
// one and gets the answer instead.
func (c *holding) release(answered bool) (last, replaced bool) {
	h := c.all
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[c.id]--; h.calls[c.id] <= 0 {
		delete(h.calls, c.id)
		last = true
	}
	if !c.opened {
		return last, false
	}
	if h.takes[c.id] != c {
		return last, true
	}
	delete(h.takes, c.id)
	if answered {
		now := time.Now()
		maps.DeleteFunc(h.given, func(_ bridge.ID, at time.Time) bool { return now.Sub(at) > givenFor })
		h.given[c.id] = now
	}
	return last, false
}
