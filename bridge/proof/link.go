package proof

import "github.com/nodbridge/nod/bridge"

// LinkBytes returns the bytes that the proof of a link is made over.
func LinkBytes(l bridge.Link) []byte {
	l.Proof = ""
	return Stable(l)
}
