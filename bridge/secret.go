package bridge

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// Claim reports whether the caller is the first to claim a key within ttl,
// across all daemons.
func Claim(ctx context.Context, notes Notes, key string, ttl time.Duration) (bool, error) {
	mark := rand.Text()
	kept, err := notes.PutNote(ctx, key, mark, ttl)
	return err == nil && kept == mark, err
}

// NewSecret returns a secret for a link.
func NewSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// HashText returns the SHA-256 hash of a text in hex. It is part of the key of
// a note about a secret.
func HashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
