package engine

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// proveGrant adds the proof to a grant that is about to be stored. It must be
// called last, because the proof covers every field.
func (e *Engine) proveGrant(g *bridge.Grant) {
	if e.prover != nil {
		g.Proof = e.prover.signer.Mac(domainGrant, proof.GrantBytes(*g))
	}
}

// checkGrant returns an error if a stored grant is not as a daemon stored it.
func (e *Engine) checkGrant(g bridge.Grant) error {
	switch {
	case e.prover == nil, g.Proof == "" && !e.prover.strict:
		return nil
	case e.prover.signer.MacIs(g.Proof, domainGrant, proof.GrantBytes(g)):
		return nil
	}
	return bridge.Errorf(bridge.CodeForbidden, "grant %s: was changed outside nod", g.ID()).WithHint("revoke it")
}
