package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge/timespan"
)

// Secret is a value that is never printed. In YAML it is {env: NAME}, {file:
// PATH}, or the text itself. A relative path starts at the directory of the
// configuration file.
type Secret struct {
	value string
	file  string // path of the file to read
	line  int
}

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

// UnmarshalYAML decodes a string, or the source that contains it.
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
		return fmt.Errorf("line %d: a secret must be a string, {env: NAME} or {file: PATH}", n.Line)
	}
	if from.Env != "" {
		s.value = os.Getenv(from.Env)
		if s.value == "" {
			return fmt.Errorf("line %d: the environment variable %s is not set", n.Line, from.Env)
		}
		return nil
	}
	s.file, s.line = from.File, n.Line
	return nil
}

// readFiles reads the files of secrets. Relative paths start at dir.
func readFiles(v reflect.Value, dir string) error {
	switch {
	case v.Type() == reflect.TypeFor[Secret]():
		return v.Addr().Interface().(*Secret).read(dir)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return readFiles(v.Elem(), dir)
	case v.Kind() == reflect.Struct:
		var errs []error
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				errs = append(errs, readFiles(v.Field(n), dir))
			}
		}
		return errors.Join(errs...)
	case v.Kind() == reflect.Map:
		var errs []error
		for _, k := range v.MapKeys() {
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(k))
			errs = append(errs, readFiles(entry, dir))
			v.SetMapIndex(k, entry)
		}
		return errors.Join(errs...)
	}
	return nil
}

func (s *Secret) read(dir string) error {
	if s.file == "" {
		return nil
	}
	path := s.file
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("line %d: %w", s.line, err)
	}
	*s = NewSecret(strings.TrimSpace(string(raw)))
	return nil
}

// Duration is a time.Duration that is written as in 5m.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := timespan.Parse(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: invalid duration %q (such as %s)", n.Line, n.Value, timespan.Examples)
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes a duration.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }
