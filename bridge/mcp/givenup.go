package mcp

import (
	"context"
	"errors"
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

// held counts the calls of this process that wait for a request. The zero value is
// ready to use.
type held struct {
	mu    sync.Mutex
	calls map[bridge.ID]int
}

// release ends a call, and reports whether no other call waits for its request.
type release func() (last bool)

// hold records a call that continues to wait for a request.
func (h *held) hold(id bridge.ID) release {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add(id)
}

// take records a call that opened a request, unless another call waits for the
// request.
func (h *held) take(id bridge.ID) (_ release, alone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[id] > 0 {
		return nil, false
	}
	return h.add(id), true
}

func (h *held) add(id bridge.ID) release {
	if h.calls == nil {
		h.calls = map[bridge.ID]int{}
	}
	h.calls[id]++
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.calls[id]--; h.calls[id] > 0 {
			return false
		}
		delete(h.calls, id)
		return true
	}
}
