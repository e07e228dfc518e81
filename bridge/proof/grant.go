package proof

import "github.com/nodbridge/nod/bridge"

// GrantBytes returns the bytes that a grant's Proof is made over: every field of
// the grant except the proof.
func GrantBytes(g bridge.Grant) []byte {
	g.Proof = ""
	g.At, g.Expires = g.At.UTC(), g.Expires.UTC()
	return Stable(g)
}
