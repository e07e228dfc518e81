// Package secret holds the type of texts that are never printed. Reading them
// from variables and files belongs in package config. Start with Text.
package secret

// Text is a value that is never printed. In the config, it is {env: NAME},
// {file: PATH}, or the text itself. A relative path starts at the directory of
// the configuration file. Spaces and line breaks around the value are removed.
type Text struct{ value string }

// New returns a secret with a value.
func New(s string) Text { return Text{value: s} }

// Value returns the text.
func (s Text) Value() string { return s.value }

// Set reports whether the secret is not empty.
func (s Text) Set() bool { return s.value != "" }

// String hides the value.
func (s Text) String() string {
	if s.value == "" {
		return ""
	}
	return "***"
}

// GoString hides the value from %#v.
func (s Text) GoString() string { return s.String() }

// MarshalText hides the value.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets the value.
func (s *Text) UnmarshalText(b []byte) error {
	s.value = string(b)
	return nil
}
