package config

import (
	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge"
)

// Secret is a value that is never printed. In YAML it is {env: NAME}, {file:
// PATH}, or the text itself. A relative path starts at the directory of the
// configuration file. Spaces and line breaks around the value are removed.
type Secret struct{ value string }

// NewSecret returns a secret with a value.
func NewSecret(s string) Secret { return Secret{value: s} }

// Value returns the text.
func (s Secret) Value() string { return s.value }

// Set reports whether the secret is not empty.
func (s Secret) Set() bool { return s.value != "" }

// String hides the value.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "***"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalYAML hides the value.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// UnmarshalYAML decodes a text. The reader has replaced a source by its value.
func (s *Secret) UnmarshalYAML(n *yaml.Node) error {
	s.value = n.Value
	return nil
}

// Duration is written as in 5m.
type Duration = bridge.Duration
