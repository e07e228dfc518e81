package config

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
)

// Name is the default name of a config file.
const Name = "nod.yaml"

// Installed returns the path of the config file that nod init writes and that
// commands read by default. It is in $XDG_CONFIG_HOME or ~/.config, and never
// in the current directory, because files there may come from someone else. It
// returns an empty string for a user without a home directory.
func Installed() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "nod", Name)
}

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
