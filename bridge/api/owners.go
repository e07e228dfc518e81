package api

import (
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// ownersKept is the size of one generation of the owners.
const ownersKept = 8192

// owner holds the fields of an open request that are necessary to wait for it.
// They cannot change.
type owner struct {
	agent  string
	cancel bool // CancelOnDisconnect
}

// owners remembers the owners of requests that this daemon opened or read, so
// that a waiting call does not have to read its record first. It has two
// generations to limit its size. It is safe for concurrent use.
type owners struct {
	mu       sync.Mutex
	now, old map[bridge.ID]owner
}

func newOwners() *owners { return &owners{now: map[bridge.ID]owner{}} }

// of returns the owner of a request, and false if it is not remembered.
func (os *owners) of(id bridge.ID) (owner, bool) {
	os.mu.Lock()
	defer os.mu.Unlock()
	o, ok := os.now[id]
	if !ok {
		o, ok = os.old[id]
	}
	return o, ok
}

// add remembers the owner of a request that has been verified.
func (os *owners) add(i *bridge.Interaction) {
	os.mu.Lock()
	defer os.mu.Unlock()
	if len(os.now) >= ownersKept {
		os.old, os.now = os.now, make(map[bridge.ID]owner, ownersKept)
	}
	os.now[i.ID] = owner{i.Agent, i.CancelOnDisconnect}
}

// unread returns a record of a request whose stored record was not read. Only
// its ID, its agent and CancelOnDisconnect are set.
func (o owner) unread(id bridge.ID) *bridge.Record {
	i := bridge.Interaction{ID: id, Agent: o.agent}
	i.CancelOnDisconnect = o.cancel
	return &bridge.Record{Interaction: i}
}
