package config

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
)

// DefaultPath is the default path of the config file.
const DefaultPath = "nod.yaml"

// NewToken returns a random token.
func NewToken() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return "nod_" + base64.RawURLEncoding.EncodeToString(raw)
}

// NewKey returns n random bytes in hex.
func NewKey(n int) string {
	raw := make([]byte, n)
	rand.Read(raw)
	return hex.EncodeToString(raw)
}
