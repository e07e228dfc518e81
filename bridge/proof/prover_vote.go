package proof

import (
	"github.com/nodbridge/nod/bridge"
)

// ProveVote signs a vote on an interaction.
func (p *Prover) ProveVote(id bridge.ID, v *bridge.Vote) {
	v.Proof = p.signer.detached(domainVote, []byte(id), voteBytes(*v))
	p.known.Add(v.Proof, string(id)+string(voteBytes(*v)))
}

// AcceptsVote reports whether a daemon signed a vote on an interaction.
func (p *Prover) AcceptsVote(id bridge.ID, v bridge.Vote) bool {
	text := voteBytes(v)
	if known, ok := p.known.Get(v.Proof); ok {
		return known == string(id)+string(text)
	}
	if !p.signer.PublicKeys().detachedIs(v.Proof, domainVote, []byte(id), text) {
		return false
	}
	p.known.Add(v.Proof, string(id)+string(text))
	return true
}
