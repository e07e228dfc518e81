package proof

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/nodbridge/nod/bridge"
)

// Domains ensure that a proof of one kind cannot be used as a proof of another
// kind.
const (
	domainEntry = "nod audit entry v1"
	domainSeal  = "nod sealed documents v1"
)

// SealKeys returns the keys that seal the stored data of an installation. They
// are derived from the keys of the signer. The first key seals, and all of them
// verify.
func (s *Signer) SealKeys(installation string) [][]byte {
	var out [][]byte
	for _, key := range s.macs {
		out = append(out, macOf(key, domainSeal, []byte(installation)))
	}
	return out
}

// framed combines a domain and parts, so that different lists of parts give
// different results.
func framed(domain string, parts ...[]byte) []byte {
	n := len(domain) + 1
	for _, p := range parts {
		n += 8 + len(p)
	}
	out := append(make([]byte, 0, n), domain...)
	out = append(out, 0)
	for _, p := range parts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}

// macOf returns the MAC of a domain and parts.
func macOf(key []byte, domain string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(framed(domain, parts...))
	return h.Sum(nil)
}

// detached returns a proof that anyone with the public key can check.
func (s *Signer) detached(domain string, parts ...[]byte) string {
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.keys[0], framed(domain, parts...)))
}

// detachedIs reports whether a proof is a signature of the parts with any of
// the keys.
func (set JWKS) detachedIs(proof, domain string, parts ...[]byte) bool {
	sig, err := bridge.DecodeBase64(proof)
	if err != nil || len(sig) != ed25519.SignatureSize {
		return false
	}
	text := framed(domain, parts...)
	for _, k := range set.Keys {
		if key, err := k.public(); err == nil && ed25519.Verify(key, text, sig) {
			return true
		}
	}
	return false
}
