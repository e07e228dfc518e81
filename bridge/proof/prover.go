package proof

import (
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	whyUnproven = "this request has no proof: an earlier version of nod stored it, or it was written outside nod"
	whyForged   = "the decision of this request was changed outside nod, so it does not count"
	whyNoProof  = "the decision of this request has no proof: an earlier version of nod made it, or it was written outside nod"
	whyMoved    = "the deadline of this request was changed outside nod, so it can no longer be decided"
	whyLate     = "the decision of this request came after its deadline, which was changed outside nod"
	whyVotes    = "the votes on this request were changed outside nod, so they do not count"
)

// earlyBy is the difference between the clocks of Redis and of a daemon above
// which a response that was prepared for a deadline counts as applied too early.
const earlyBy = 2 * time.Minute

// A Prover makes the proofs of what a daemon stores, and checks those of what it
// reads. A nil prover makes and checks nothing. It is safe for concurrent use.
type Prover struct {
	signer *Signer
	// strict refuses what has no proof. Keys that are kept in Redis prove
	// nothing against those who can read them there, so records of an earlier
	// version are accepted with such keys.
	strict bool
	known  *receiptCache
}

// NewProver returns a prover that uses the keys of s. With keysInRedis it accepts
// what has no proof. It returns nil if s is nil.
func NewProver(s *Signer, keysInRedis bool) *Prover {
	if s == nil {
		return nil
	}
	return &Prover{signer: s, strict: !keysInRedis, known: newReceiptCache()}
}

// ProveInteraction signs an interaction as it is going to be stored.
func (p *Prover) ProveInteraction(i *bridge.Interaction) {
	i.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	_, rest := interactionParts(*i)
	i.Proof = p.signer.mac(domainInteraction, rest)
}

// Strict reports whether what has no proof is refused. A nil Prover is not
// strict.
func (p *Prover) Strict() bool { return p != nil && p.strict }

// InteractionProblem returns the reason why an interaction is not the one that
// a daemon stored. It is empty if it is.
func (p *Prover) InteractionProblem(i bridge.Interaction) string {
	_, why := p.interactionProblem(i)
	return why
}

// interactionProblem says why an interaction is not the one that a daemon
// stored. It is empty if it is.
func (p *Prover) interactionProblem(i bridge.Interaction) (content []byte, why string) {
	content, rest := interactionParts(i)
	switch {
	case i.Proof == "" && !p.strict:
		return content, ""
	case i.Proof == "":
		return content, whyUnproven
	case !p.signer.macIs(i.Proof, domainInteraction, rest):
		return content, bridge.WhyAltered
	}
	return content, ""
}
