package engine

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// decide converts a decision into a response, and adds the digest of an edited
// input.
func decide(i bridge.Interaction, d bridge.Decision, g bridge.Given) (bridge.Response, string, error) {
	r, problem, err := i.Decide(d, g)
	if err == nil && len(r.Input) > 0 {
		r.ApprovedDigest, err = proof.ApprovedDigest(i, r.Input)
	}
	return r, problem, err
}

// grantable sets what a grant given in the interaction covers. The argument
// sent is the interaction before redaction.
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
