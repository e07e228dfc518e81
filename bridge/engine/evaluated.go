package engine

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/cache"
)

// evaluatedKept is the number of requests that evaluated remembers.
const evaluatedKept = 8192

// evaluated remembers which requests this engine has opened. An engine keeps
// its config, and the evaluation of a request depends only on the config and on
// the interaction. So a request that is still as this engine opened it has
// nothing stricter now. A new config comes with a new engine, which remembers
// nothing. It is safe for concurrent use.
type evaluated struct {
	proofs *cache.Cache[string, struct{}] // they cover the complete interaction
}

func newEvaluated() evaluated { return evaluated{cache.New[string, struct{}](evaluatedKept)} }

// add remembers an interaction that was opened now. It ignores one without a
// proof, and one that is not evaluated from what the agent sent.
func (e evaluated) add(i bridge.Interaction) {
	if i.Proof == "" || i.Redacted > 0 || i.Previous != "" {
		return
	}
	e.proofs.Put(i.Proof, struct{}{})
}

// has reports whether a verified record still has the interaction that was
// opened.
func (e evaluated) has(rec bridge.Record) bool {
	proof := rec.Interaction.Proof
	if proof == "" || rec.Unverified != "" {
		return false
	}
	_, known := e.proofs.Get(proof)
	return known
}
