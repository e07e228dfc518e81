package engine

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// decide turns a decision into a response, and states the digest of an input
// that a person changed.
func decide(i bridge.Interaction, d bridge.Decision, g bridge.Given) (bridge.Response, string, error) {
	r, problem, err := i.Decide(d, g)
	if err == nil && len(r.Input) > 0 {
		r.ApprovedDigest, err = proof.ApprovedDigest(i, r.Input)
	}
	return r, problem, err
}

// grantable sets what a standing approval of the interaction covers. Sent is
// the interaction before masking.
func grantable(i *bridge.Interaction, r bridge.Ruling, sent bridge.Interaction) error {
	if i.Approval == nil {
		return nil
	}
	digest, err := proof.GrantDigest(sent)
	if err != nil {
		return err
	}
	i.Grantable(r, sent, digest)
	return nil
}
