package proof

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/nodbridge/nod/bridge"
)

// Types of signed texts; they are in the signature's header, so that one never
// passes for another.
const (
	typeReceipt = "nod-receipt+jws"
	typeSeal    = "nod-seal+jws"
	typeAnswer  = "nod-answer+jws"
)

// sign returns a compact JSON Web Signature.
func (s *Signer) sign(typ string, v any) (string, error) {
	payload, err := json.Marshal(v)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	signed, err := s.typed[typ].Sign(payload)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	return token, nil
}

// verify returns the payload of a signature of a type; CodeForbidden for one
// that is not good. A text that spells the same signature in another way is not
// good either.
func (set JWKS) verify(typ, token string) ([]byte, error) {
	bad := func(why string) ([]byte, error) {
		return nil, bridge.Errorf(bridge.CodeForbidden, "signature: %s", why)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return bad("is not a compact JWS with EdDSA")
	}
	if same, err := signed.CompactSerialize(); err != nil || same != token {
		return bad("is not spelled as it was made")
	}
	h := signed.Signatures[0].Protected
	if h.ExtraHeaders[jose.HeaderType] != typ {
		return bad("is not of the type " + typ)
	}
	for _, k := range set.Keys {
		key, err := k.public()
		if err != nil || NewJWK(key).KeyID != h.KeyID {
			continue
		}
		payload, err := signed.Verify(key)
		if err != nil {
			return bad("does not fit: something was changed")
		}
		return payload, nil
	}
	for _, k := range set.Former {
		if k.KeyID == h.KeyID {
			return bad("is by a key that was kept in Redis, so it proves nothing now: " + clipped(h.KeyID))
		}
	}
	return bad("is by a key that is not among those given: " + clipped(h.KeyID))
}

// payload reads a signed text. A nil set checks no signature: for callers that
// trust the connection that it came by.
func (set *JWKS) payload(typ, token string) ([]byte, error) {
	if set != nil {
		return set.verify(typ, token)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "receipt: is not a compact JWS")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "receipt")
	}
	return raw, nil
}
