package proof

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/nodbridge/nod/bridge"
)

// Signer signs receipts and seals, and proves what is stored. The first key
// signs; all verify, so that a key can be replaced while its receipts are kept.
// It is safe for concurrent use.
type Signer struct {
	keys   []ed25519.PrivateKey
	macs   [][]byte // one derived from each key
	public JWKS
	typed  map[string]jose.Signer // with the first key, by type
}

// macInfo binds the keys of MACs, which are derived from the keys that sign, to
// their purpose.
const macInfo = "nod stored proof v1"

// NewSigner returns a signer of Ed25519 seeds, each ed25519.SeedSize bytes.
func NewSigner(seeds ...[]byte) (*Signer, error) {
	if len(seeds) == 0 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "key: none given")
	}
	s := &Signer{typed: map[string]jose.Signer{}}
	for _, seed := range seeds {
		if len(seed) != ed25519.SeedSize {
			return nil, bridge.Errorf(bridge.CodeInvalid, "key: has %d bytes, want %d", len(seed), ed25519.SeedSize)
		}
		derived, err := hkdf.Key(sha256.New, seed, nil, macInfo, sha256.Size)
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
		}
		key := ed25519.NewKeyFromSeed(seed)
		s.keys, s.macs = append(s.keys, key), append(s.macs, derived)
		s.public.Keys = append(s.public.Keys, NewJWK(key.Public().(ed25519.PublicKey)))
	}
	first := jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: s.keys[0], KeyID: s.public.Keys[0].KeyID}}
	for _, typ := range []string{typeReceipt, typeSeal, typeAnswer} {
		signer, err := jose.NewSigner(first, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
		}
		s.typed[typ] = signer
	}
	return s, nil
}

// Formerly has the public keys name one that signed before, while its private
// key was kept in Redis. Only seals of the audit log that it made are believed.
func (s *Signer) Formerly(keys ...JWK) { s.public.Former = append(s.public.Former, keys...) }

// JWK is a public key as RFC 7517 and RFC 8037 write it. It is not the type of
// go-jose, which fails to read a whole set because of one key of another kind.
type JWK struct {
	KeyType string `json:"kty"`
	Curve   string `json:"crv"`
	X       string `json:"x"`
	KeyID   string `json:"kid"`
	Use     string `json:"use,omitempty"`
	Alg     string `json:"alg,omitempty"`
}

// JWKS is a set of public keys.
type JWKS struct {
	Keys []JWK `json:"keys"`
	// Former are keys that were kept in Redis: whoever could read it may have
	// them, so they prove no decision. Old seals are checked with them.
	Former []JWK `json:"former,omitempty"`
}

// NewJWK writes a public key. Its id is the thumbprint of RFC 7638.
func NewJWK(key ed25519.PublicKey) JWK {
	k := jose.JSONWebKey{Key: key}
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		panic(err) // it is only returned for keys of other types
	}
	text := base64.RawURLEncoding.EncodeToString
	return JWK{KeyType: "OKP", Curve: "Ed25519", X: text(key), KeyID: text(sum), Use: "sig", Alg: "EdDSA"}
}

// PublicKeys are the keys that verify.
func (s *Signer) PublicKeys() JWKS { return s.public }

// public is the key itself.
func (k JWK) public() (ed25519.PublicKey, error) {
	key, err := bridge.DecodeBase64(k.X)
	if err != nil || k.KeyType != "OKP" || k.Curve != "Ed25519" || len(key) != ed25519.PublicKeySize {
		return nil, bridge.Errorf(bridge.CodeInvalid, "key %s: is not an Ed25519 public key", clipped(k.KeyID))
	}
	return key, nil
}

func clipped(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
