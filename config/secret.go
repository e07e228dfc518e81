package config

import (
	"fmt"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Secret is a text that is never printed. In YAML it is {env: NAME},
// {file: PATH}, or the text itself.
type Secret struct{ value string }

// NewSecret returns a secret with a value.
func NewSecret(s string) Secret { return Secret{s} }

// Value returns the text.
func (s Secret) Value() string { return s.value }

// Set reports whether there is a text.
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

// UnmarshalYAML reads a text, or where to find it.
func (s *Secret) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		s.value = n.Value
		return nil
	}
	var from struct {
		Env  string `yaml:"env"`
		File string `yaml:"file"`
	}
	for k := 0; k < len(n.Content); k += 2 {
		if key := n.Content[k]; key.Value != "env" && key.Value != "file" {
			return fmt.Errorf("line %d: unknown key %s in a secret; use env or file", key.Line, key.Value)
		}
	}
	if err := n.Decode(&from); err != nil {
		return fmt.Errorf("line %d: a secret is a text, {env: NAME} or {file: PATH}", n.Line)
	}
	if from.Env != "" {
		s.value = os.Getenv(from.Env)
		if s.value == "" {
			return fmt.Errorf("line %d: the environment variable %s is not set", n.Line, from.Env)
		}
		return nil
	}
	raw, err := os.ReadFile(from.File)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	s.value = strings.TrimSpace(string(raw))
	return nil
}

// Duration is a time.Duration written like 5m.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is not a duration like 90s, 5m or 720h", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes a duration.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }
