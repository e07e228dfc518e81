package proof

import "github.com/nodbridge/nod/bridge/passkey"

// ProvePasskey adds the proof to a key of a person before it is stored. A nil
// Prover does nothing.
func (p *Prover) ProvePasskey(c *passkey.Credential) {
	if p != nil {
		c.Proof = p.signer.mac(domainPasskey, passkeyBytes(*c))
	}
}

// AcceptsPasskey reports whether a daemon stored the key in this form.
func (p *Prover) AcceptsPasskey(c passkey.Credential) bool {
	return p == nil || p.signer.macIs(c.Proof, domainPasskey, passkeyBytes(c))
}

// passkeyBytes returns the bytes that the proof of a key covers.
func passkeyBytes(c passkey.Credential) []byte {
	c.Proof = ""
	c.Created, c.Used, c.Revoked = c.Created.UTC(), c.Used.UTC(), c.Revoked.UTC()
	return Stable(c)
}
