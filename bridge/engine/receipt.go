package engine

import "github.com/nodbridge/nod/bridge"

// PublicKeys are the keys that verify receipts and seals; none without a
// signer.
func (e *Engine) PublicKeys() bridge.JWKS {
	if e.signer == nil {
		return bridge.JWKS{Keys: []bridge.JWK{}}
	}
	return e.signer.PublicKeys()
}
