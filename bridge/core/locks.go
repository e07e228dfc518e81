package core

import (
	"context"
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// locks serializes the changes of one interaction in this process, because a
// change has to be retried if another change overtakes it.
type locks struct {
	mu  sync.Mutex
	all map[bridge.ID]*lock
}

type lock struct {
	held   chan struct{} // contains an element while someone holds the lock
	users  int
	missed bool // the journal has reported in the meantime that the interaction is over
}

func newLocks() *locks { return &locks{all: map[bridge.ID]*lock{}} }

// lock waits until no one else changes an interaction, or until ctx ends. The
// caller must call the returned function in either case to release the lock.
// The function reports whether this change has to wake the callers of the
// interaction; see leaveToTurn.
func (ls *locks) lock(ctx context.Context, id bridge.ID) (unlock func() (missed bool), err error) {
	ls.mu.Lock()
	l := ls.all[id]
	if l == nil {
		l = &lock{held: make(chan struct{}, 1)}
		ls.all[id] = l
	}
	l.users++
	ls.mu.Unlock()
	select {
	case l.held <- struct{}{}:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return func() bool {
		if err == nil {
			<-l.held
		}
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(ls.all, id)
			return l.missed
		}
		return false
	}, err
}

// leaveToTurn leaves waking the callers of an interaction to the last turn that is
// changing it in this process, and reports whether there is such a turn.
func (ls *locks) leaveToTurn(id bridge.ID) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.all[id]
	if l != nil {
		l.missed = true
	}
	return l != nil
}
