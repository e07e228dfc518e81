package proof

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/nodbridge/nod/bridge"
)

const (
	whyUnproven = "this request has no proof: it was written outside nod"
	whyForged   = "the decision of this request was changed outside nod, so it does not count"
	whyNoProof  = "the decision of this request has no proof: it was written outside nod"
	whyVotes    = "the votes on this request were changed outside nod, so they do not count"
)

// earlyBy is the maximum clock difference between Redis and a daemon. Beyond
// it, a response that was prepared for a deadline counts as applied too early.
const earlyBy = 2 * time.Minute

// proofsKnown is the number of proofs that a Prover remembers. It is more than a
// daemon decides between two seals, which need the receipts again.
const proofsKnown = 8192

// A Prover creates the proofs of what a daemon stores, and checks the proofs of
// what it reads. Some methods accept a nil Prover, for which they do nothing. A
// Prover is safe for concurrent use.
type Prover struct {
	signer *Signer
	// known remembers the complete text of receipts that this process has signed
	// or verified, so that each signature is checked only once.
	known *lru.Cache[string, string]
}

// NewProver returns a prover with the keys of s. It returns nil if s is nil.
func NewProver(s *Signer) *Prover {
	if s == nil {
		return nil
	}
	known, _ := lru.New[string, string](proofsKnown) // fails only for a number below 1
	return &Prover{signer: s, known: known}
}

// ProveInteraction adds the proof to an interaction before it is stored.
func (p *Prover) ProveInteraction(i *bridge.Interaction) {
	i.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	i.Proof = p.signer.mac(domainInteraction, interactionBytes(*i))
}

// InteractionProblem returns the reason why an interaction does not verify. It
// returns "" if a daemon stored the interaction in this form.
func (p *Prover) InteractionProblem(i bridge.Interaction) string {
	switch {
	case i.Proof == "":
		return whyUnproven
	case !p.signer.macIs(i.Proof, domainInteraction, interactionBytes(i)):
		return bridge.WhyAltered
	}
	return ""
}
