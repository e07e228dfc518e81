package config

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config/secret"
)

// Secret is a value that is never printed.
type Secret = secret.Text

// NewSecret returns a secret with a value.
func NewSecret(s string) Secret { return secret.New(s) }

// Duration is a duration such as 5m.
type Duration = bridge.Duration
