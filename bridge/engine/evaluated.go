package engine

import (
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// evaluatedKept is the size of one generation of evaluated.
const evaluatedKept = 4096

// evaluated remembers which requests this engine has opened. An engine keeps
// its config, and the evaluation of a request depends only on the config and on
// the interaction. So a request that is still as this engine opened it has
// nothing stricter now. A new config comes with a new engine, which remembers
// nothing. It has two generations, so that it stays small. It is safe for
// concurrent use.
type evaluated struct {
	mu       sync.Mutex
	now, old map[string]struct{} // proofs, which cover the complete interaction
}

// add remembers an interaction that was opened now. It ignores one without a
// proof, and one that is not evaluated from what the agent sent.
func (e *evaluated) add(i bridge.Interaction) {
	if i.Proof == "" || i.Redacted > 0 || i.Previous != "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == nil || len(e.now) >= evaluatedKept {
		e.old, e.now = e.now, make(map[string]struct{})
	}
	e.now[i.Proof] = struct{}{}
}

// has reports whether a verified record still has the interaction that was
// opened.
func (e *evaluated) has(rec bridge.Record) bool {
	proof := rec.Interaction.Proof
	if proof == "" || rec.Unverified != "" {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, now := e.now[proof]
	_, old := e.old[proof]
	return now || old
}
