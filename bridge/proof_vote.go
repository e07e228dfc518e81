package bridge

// ShownHash identifies what people are shown of an interaction, and under which
// terms. It does not depend on the people who are asked.
func (i Interaction) ShownHash() string {
	return contentHash(Stable(struct {
		Terms               int
		Prompt, Error, Risk string
		Approval            *Approval
	}{i.Terms, i.Prompt, i.Error, i.Risk, i.Approval}))
}

func (v Vote) ProofBytes() []byte {
	v.Proof = ""
	return Stable(v)
}
