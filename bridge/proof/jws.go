package proof

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/nodbridge/nod/bridge"
)

// Types of signed texts. The type is in the header of the signature, so that a
// text of one type cannot be mistaken for a text of another.
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
	return s.signText(typ, payload), nil
}

// signText returns a compact JSON Web Signature of a payload. The header of a
// type never changes, so only the payload is encoded.
func (s *Signer) signText(typ string, payload []byte) string {
	text := base64.RawURLEncoding
	token := make([]byte, 0, len(s.headers[typ])+text.EncodedLen(len(payload))+text.EncodedLen(ed25519.SignatureSize)+2)
	token = append(append(token, s.headers[typ]...), '.')
	token = text.AppendEncode(token, payload)
	sig := ed25519.Sign(s.keys[0], token)
	return string(text.AppendEncode(append(token, '.'), sig))
}

// verify returns the payload of a signed text of a type. It returns
// CodeForbidden unless the signature is valid and has its only accepted
// encoding.
func (set JWKS) verify(typ, token string) ([]byte, error) {
	bad := func(why string) ([]byte, error) {
		return nil, bridge.Errorf(bridge.CodeForbidden, "signature: %s", why)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return bad("not a compact JWS with EdDSA")
	}
	if same, err := signed.CompactSerialize(); err != nil || same != token {
		return bad("not in its original encoding")
	}
	h := signed.Signatures[0].Protected
	if h.ExtraHeaders[jose.HeaderType] != typ {
		return bad("not of the type " + typ)
	}
	for _, k := range set.Keys {
		key, err := k.public()
		if err != nil || NewJWK(key).KeyID != h.KeyID {
			continue
		}
		payload, err := signed.Verify(key)
		if err != nil {
			return bad("invalid, because the signed text was changed")
		}
		return payload, nil
	}
	for _, k := range set.Former {
		if k.KeyID == h.KeyID {
			return bad("made with a former key that was kept in Redis: " + clipped(h.KeyID))
		}
	}
	return bad("made with an unknown key: " + clipped(h.KeyID))
}

// payload returns the payload of a signed text. A nil set does not check the
// signature, for callers that trust the connection.
func (set *JWKS) payload(typ, token string) ([]byte, error) {
	if set != nil {
		return set.verify(typ, token)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "receipt: not a compact JWS")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "receipt")
	}
	return raw, nil
}
