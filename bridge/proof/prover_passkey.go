package proof

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// ProvePasskey adds the proof to a key of a person before it is stored. A nil
// Prover does nothing.
func (p *Prover) ProvePasskey(c *passkey.Credential) {
	if p != nil {
		c.Proof = p.signer.mac(domainPasskey, passkeyBytes(*c))
	}
}

// AcceptsPasskey reports whether a daemon stored the key in this form.
func (p *Prover) AcceptsPasskey(c passkey.Credential) bool {
	return p == nil || p.signer.macIs(c.Proof, domainPasskey, passkeyBytes(c))
}

// passkeyBytes returns the bytes that the proof of a key covers.
func passkeyBytes(c passkey.Credential) []byte {
	c.Proof = ""
	c.Created, c.Used, c.Revoked = c.Created.UTC(), c.Used.UTC(), c.Revoked.UTC()
	return Stable(c)
}

// ProveTOTP adds the proof to one-time codes before they are stored. A nil
// Prover does nothing.
func (p *Prover) ProveTOTP(t *passkey.TOTP) {
	if p != nil {
		t.Proof = p.signer.mac(domainTOTP, totpBytes(*t))
	}
}

// AcceptsTOTP reports whether a daemon stored the one-time codes in this form.
func (p *Prover) AcceptsTOTP(t passkey.TOTP) bool {
	return p == nil || p.signer.macIs(t.Proof, domainTOTP, totpBytes(t))
}

// totpBytes returns the bytes that the proof of one-time codes covers.
func totpBytes(t passkey.TOTP) []byte {
	t.Proof = ""
	t.Created, t.Used = t.Created.UTC(), t.Used.UTC()
	return Stable(t)
}

// secretInfo binds the keys that encrypt secrets to their purpose.
const secretInfo = "nod secret v1"

// Encrypt encrypts a secret for the store with AES-256-GCM. The name must be
// given to [Signer.Decrypt] again. The key is derived from the signing key, so
// it protects the secret only if that key is not kept in Redis.
func (s *Signer) Encrypt(name string, secret []byte) ([]byte, error) {
	a, err := s.aead(0)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, a.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return a.Seal(nonce, nonce, secret, []byte(name)), nil
}

// Decrypt returns what [Signer.Encrypt] encrypted with any of the keys. It
// returns CodeForbidden for anything else.
func (s *Signer) Decrypt(name string, sealed []byte) ([]byte, error) {
	for n := range s.keys {
		a, err := s.aead(n)
		if err != nil {
			return nil, err
		}
		if len(sealed) < a.NonceSize() {
			break
		}
		if secret, err := a.Open(nil, sealed[:a.NonceSize()], sealed[a.NonceSize():], []byte(name)); err == nil {
			return secret, nil
		}
	}
	return nil, bridge.Errorf(bridge.CodeForbidden, "the stored secret was encrypted with another key or changed")
}

// aead returns the cipher of a key.
func (s *Signer) aead(n int) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, s.keys[n].Seed(), nil, secretInfo, sha256.Size)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
	}
	a, err := cipher.NewGCM(block)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
	}
	return a, nil
}
