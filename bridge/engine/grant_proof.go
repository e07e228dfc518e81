package engine

import (
	"github.com/nodbridge/nod/bridge"
)

// proveGrant adds the proof to a grant that is about to be stored. It must be
// called last, because the proof covers every field.
func (e *Engine) proveGrant(g *bridge.Grant) {
	e.prover.ProveGrant(g)
}

// checkGrant returns an error if a stored grant is not as a daemon stored it.
func (e *Engine) checkGrant(g bridge.Grant) error {
	return e.prover.CheckGrant(g)
}
