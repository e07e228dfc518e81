package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// claim reports whether the caller is the first one to claim a key within ttl.
// The claims of all daemons count.
func claim(ctx context.Context, notes bridge.Notes, key string, ttl time.Duration) (bool, error) {
	mark := rand.Text()
	kept, err := notes.PutNote(ctx, key, mark, ttl)
	return err == nil && kept == mark, err
}

// newSecret returns a secret for a link.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashedText returns the hash of a secret, for the key of a note.
func hashedText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
