package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge/removed"
)

// removedKeys returns what replaces each key of a document that nod no longer
// has, by the line and the name of the key.
func removedKeys(raw []byte) map[string]string {
	var doc yaml.Node
	if yaml.Unmarshal(raw, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	found := map[string]string{}
	findRemoved(doc.Content[0], reflect.TypeFor[Config](), "", found)
	return found
}

// findRemoved looks for removed keys in a node that holds a value of a type.
// The path names the value as in docs/configuration.md.
func findRemoved(n *yaml.Node, t reflect.Type, path string, found map[string]string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			findRemoved(item, t.Elem(), path+"[]", found)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for k := 1; k < len(n.Content); k += 2 {
			findRemoved(n.Content[k], t.Elem(), below(path, "NAME"), found)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		for k := 1; k < len(n.Content); k += 2 {
			key, at := n.Content[k-1], below(path, n.Content[k-1].Value)
			if f, known := field(t, key.Value); known {
				findRemoved(n.Content[k], f.Type, at, found)
			} else if instead, was := removed.Instead(removed.Setting, at); was {
				found[lineKey(fmt.Sprintf("line %d", key.Line), key.Value)] = instead
			}
		}
	case n.Kind == yaml.MappingNode: // the setting was a mapping before
		for k := 1; k < len(n.Content); k += 2 {
			key := n.Content[k-1].Value
			if instead, was := removed.Instead(removed.Setting, below(path, key)); was {
				found[lineKey(fmt.Sprintf("line %d", n.Line), mapping)] = fmt.Sprintf("removed key %q; %s", key, instead)
			}
		}
	}
}

// mapping is the tag of a mapping in YAML.
const mapping = "!!map"

func lineKey(line, key string) string { return line + ": " + key }

func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// field returns the field of a struct that holds a key.
func field(t reflect.Type, key string) (reflect.StructField, bool) {
	return t.FieldByNameFunc(func(name string) bool {
		f, _ := t.FieldByName(name)
		return f.Tag.Get("yaml") == key
	})
}

// removedVariables returns an error for each variable that set a key which nod
// no longer has. A config file may refer to a variable with any name.
func (c *Config) removedVariables(text []byte, environ []string) error {
	known := map[string]bool{}
	names(reflect.ValueOf(c).Elem(), "NOD", known)
	var unknown []string
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "NOD_") && value != "" && !known[name] && !mentions(text, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	var errs []error
	for _, row := range removed.All(removed.Setting) {
		if strings.Contains(row.Name, "[]") {
			continue // no variable sets a value in a list
		}
		was := "^NOD"
		for key := range strings.SplitSeq(row.Name, ".") {
			if key == "NAME" {
				was += `_\w+`
			} else {
				was += "_" + variable(key)
			}
		}
		pattern := regexp.MustCompile(was + `(_\w+)?$`)
		for _, name := range unknown {
			if pattern.MatchString(name) {
				errs = append(errs, fmt.Errorf("%s: removed variable; %s", name, row.Instead))
			}
		}
	}
	return errors.Join(errs...)
}

// removedValues returns what replaces each value that nod no longer has, by the
// path of its key.
func (c Config) removedValues() map[string]string {
	found := map[string]string{}
	findValues(reflect.ValueOf(c), "", "", found)
	return found
}

// findValues looks for removed values. The row names the value as in
// docs/configuration.md, and the path as in the config.
func findValues(v reflect.Value, row, path string, found map[string]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			findValues(v.Elem(), row, path, found)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if f := v.Type().Field(n); f.IsExported() {
				findValues(v.Field(n), below(row, f.Tag.Get("yaml")), below(path, f.Tag.Get("yaml")), found)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			findValues(v.MapIndex(k), below(row, "NAME"), below(path, k.String()), found)
		}
	case reflect.Slice:
		for n := range v.Len() {
			findValues(v.Index(n), row+"[]", fmt.Sprintf("%s[%d]", path, n), found)
		}
	case reflect.String:
		if instead, was := removed.Instead(removed.Value, row+": "+v.String()); was {
			found[path] = fmt.Sprintf("removed value %q; %s", v.String(), instead)
		}
	}
}
