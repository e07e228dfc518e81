package bridge

// claims returns the bytes that a grant's Proof is made over: every field of
// the grant except the proof.
func (g Grant) claims() []byte {
	g.Proof = ""
	g.At, g.Expires = g.At.UTC(), g.Expires.UTC()
	return stable(g)
}

// proveGrant adds the proof to a grant that is about to be stored. It must be
// called last, because the proof covers every field.
func (e *Engine) proveGrant(g *Grant) {
	if e.prover != nil {
		g.Proof = e.prover.signer.mac(domainGrant, g.claims())
	}
}

// checkGrant returns an error if a stored grant is not as a daemon stored it.
func (e *Engine) checkGrant(g Grant) error {
	switch {
	case e.prover == nil, g.Proof == "" && !e.prover.strict:
		return nil
	case e.prover.signer.macIs(g.Proof, domainGrant, g.claims()):
		return nil
	}
	return Errorf(CodeForbidden, "grant %s: was changed outside nod", g.ID()).WithHint("revoke it")
}
