package proof

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/go-jose/go-jose/v4"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// Signer signs receipts, entries and seals of the audit log. It also holds the
// keys that seal stored documents. It signs with the first key and verifies
// with all keys, so receipts stay valid after a key rotation. A nil Signer
// signs nothing. A Signer is safe for concurrent use.
type Signer struct {
	keys   []ed25519.PrivateKey
	macs   [][]byte // one for each key
	public JWKS
	// headers holds the encoded headers of the first key, by type of signed
	// text.
	headers map[string]string
	// known remembers the complete text of receipts that this process has signed or
	// verified, so that each signature is checked only once.
	known *lru.Cache[string, string]
}

// macInfo binds the MAC keys, which are derived from the signing keys, to their
// purpose.
const macInfo = "nod stored proof v1"

// NewSigner returns a signer with keys from Ed25519 seeds of ed25519.SeedSize
// bytes each.
func NewSigner(seeds ...[]byte) (*Signer, error) {
	if len(seeds) == 0 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "key: required")
	}
	known, _ := lru.New[string, string](receiptsKnown) // fails only for a length below 1
	s := &Signer{headers: map[string]string{}, known: known}
	for _, seed := range seeds {
		if len(seed) != ed25519.SeedSize {
			return nil, bridge.Errorf(bridge.CodeInvalid, "key: invalid length of %d bytes (must be %d)", len(seed), ed25519.SeedSize)
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
		token, err := signEmpty(first, typ)
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
		}
		s.headers[typ], _, _ = strings.Cut(token, ".")
	}
	return s, nil
}

// signEmpty returns a compact JSON Web Signature of an empty payload.
func signEmpty(key jose.SigningKey, typ string) (string, error) {
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(nil)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// Formerly adds former public keys whose private keys were stored in Redis.
// They verify only seals of the audit log.
func (s *Signer) Formerly(keys ...JWK) { s.public.Former = append(s.public.Former, keys...) }

// JWK is a public key in the format of RFC 7517 and RFC 8037. The type in
// go-jose is not used, because it cannot parse a set with a key of an unknown
// type.
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
	// Former holds keys that were stored in Redis. Anyone with access to Redis
	// may have them, so they verify only old seals, and no decisions.
	Former []JWK `json:"former,omitempty"`
	// Passkeys holds the public keys of people, which verify their signatures.
	// It is nil if the keys are not known.
	Passkeys *passkey.Keys `json:"passkeys,omitempty"`
}

// NewJWK returns a public key as a JWK. Its ID is the thumbprint of RFC 7638.
func NewJWK(key ed25519.PublicKey) JWK {
	k := jose.JSONWebKey{Key: key}
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		panic(err) // unreachable for an Ed25519 key
	}
	text := base64.RawURLEncoding.EncodeToString
	return JWK{KeyType: "OKP", Curve: "Ed25519", X: text(key), KeyID: text(sum), Use: "sig", Alg: "EdDSA"}
}

// PublicKeys returns the public keys.
func (s *Signer) PublicKeys() JWKS { return s.public }

// public returns the decoded key.
func (k JWK) public() (ed25519.PublicKey, error) {
	key, err := bridge.DecodeBase64(k.X)
	if err != nil || k.KeyType != "OKP" || k.Curve != "Ed25519" || len(key) != ed25519.PublicKeySize {
		return nil, bridge.Errorf(bridge.CodeInvalid, "key %s: not an Ed25519 public key", clipped(k.KeyID))
	}
	return key, nil
}

func clipped(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
