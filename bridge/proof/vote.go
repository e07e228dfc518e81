package proof

import "github.com/nodbridge/nod/bridge"

// ShownHash identifies what people are shown of an interaction, and under which
// terms. It does not depend on the people who are asked.
func ShownHash(i bridge.Interaction) string {
	return contentHash(Stable(struct {
		Terms               int
		Prompt, Error, Risk string
		Approval            *bridge.Approval
	}{i.Terms, i.Prompt, i.Error, i.Risk, i.Approval}))
}

// VoteBytes returns the bytes that the proof of a vote is made over.
func VoteBytes(v bridge.Vote) []byte {
	v.Proof = ""
	return Stable(v)
}
