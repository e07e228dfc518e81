package bridge

func (l Link) ProofBytes() []byte {
	l.Proof = ""
	return Stable(l)
}
