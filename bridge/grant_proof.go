package bridge

func (g Grant) proofBytes() []byte {
	g.Proof = ""
	return stable(g)
}

// proveGrant proves a grant as it is going to be stored. It has to be called
// last, as the proof covers every field.
func (e *Engine) proveGrant(g *Grant) {
	if e.prover != nil {
		g.Proof = e.prover.signer.mac(domainGrant, g.proofBytes())
	}
}

// checkGrant reports whether a grant is as a daemon stored it. A grant that
// was written or changed outside nod covers nothing.
func (e *Engine) checkGrant(g Grant) bool {
	switch {
	case e.prover == nil, g.Proof == "" && !e.prover.strict:
		return true
	case e.prover.signer.macIs(g.Proof, domainGrant, g.proofBytes()):
		return true
	}
	e.log.Warn("grant not verified", "grant", g.ID(), "agent", g.Agent)
	return false
}

// isFor reports whether a grant was given for what it was found under: the same
// agent and key, in the same session or in any.
func (g Grant) isFor(i Interaction) bool {
	return g.Agent == i.Agent && g.Key == i.GrantKey && (g.Session == "" || g.Session == i.Session)
}
