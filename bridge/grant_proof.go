package bridge

// Claims returns the bytes that a grant's Proof is made over: every field of
// the grant except the proof.
func (g Grant) Claims() []byte {
	g.Proof = ""
	g.At, g.Expires = g.At.UTC(), g.Expires.UTC()
	return Stable(g)
}
