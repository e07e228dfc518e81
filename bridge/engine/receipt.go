package engine

import (
	"github.com/nodbridge/nod/bridge/proof"
)

// PublicKeys are the keys that verify receipts and seals; none without a
// signer.
func (e *Engine) PublicKeys() proof.JWKS {
	if e.signer == nil {
		return proof.JWKS{Keys: []proof.JWK{}}
	}
	return e.signer.PublicKeys()
}
