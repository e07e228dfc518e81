package memory

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
)

// tokenKey is the length of the key that signs controls.
const tokenKey = 32

// Keyring is the keyring of a daemon whose store is in this process. It has no other
// daemons.
type Keyring struct {
	token, signing []byte
	keys           string
}

// NewKeyring returns a keyring with new keys.
func NewKeyring() *Keyring {
	k := &Keyring{token: make([]byte, tokenKey), signing: make([]byte, ed25519.SeedSize)}
	rand.Read(k.token)
	rand.Read(k.signing)
	return k
}

// TokenKey returns the key that signs controls.
func (k *Keyring) TokenKey(context.Context) ([]byte, error) { return k.token, nil }

// SigningKey returns the seed of the key that signs receipts.
func (k *Keyring) SigningKey(context.Context) ([]byte, error) { return k.signing, nil }

// FormerSigningKey returns nil: no earlier daemon has left a key.
func (k *Keyring) FormerSigningKey(context.Context) ([]byte, error) { return nil, nil }

// KeysKey returns the name of the place that stores the fingerprint of the
// keys.
func (k *Keyring) KeysKey() string { return "(in memory)" }

// Keys returns the fingerprint of the keys, or "".
func (k *Keyring) Keys(context.Context) (string, error) { return k.keys, nil }

// ClaimKeys records a fingerprint unless one is recorded already, and returns the
// recorded one.
func (k *Keyring) ClaimKeys(_ context.Context, fingerprint string) (string, error) {
	if k.keys == "" {
		k.keys = fingerprint
	}
	return k.keys, nil
}

// SetKeys records a fingerprint, replacing any other.
func (k *Keyring) SetKeys(_ context.Context, fingerprint string) error {
	k.keys = fingerprint
	return nil
}

// Announce returns the fingerprint of this daemon's keys.
func (k *Keyring) Announce(_ context.Context, fingerprint string) ([]string, error) {
	return []string{fingerprint}, nil
}

// Retire does nothing.
func (k *Keyring) Retire(context.Context) error { return nil }

// Running returns 1.
func (k *Keyring) Running(context.Context) (int, error) { return 1, nil }
