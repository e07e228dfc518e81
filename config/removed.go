package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/removed"
)

func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// field returns the field of a struct that holds a key.
func field(t reflect.Type, key string) (reflect.StructField, bool) {
	all := fieldsOf(t)
	n := slices.IndexFunc(all, func(f reflect.StructField) bool { return f.Tag.Get("yaml") == key })
	if n < 0 {
		return reflect.StructField{}, false
	}
	return all[n], true
}

// removedVariables returns an error for each variable that sets a removed key.
// A config file may refer to a variable with any name.
func (c *Config) removedVariables(environ []string) error {
	known := c.variables()
	var unknown []string
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "NOD_") && value != "" && !known[name] && !c.used[name] {
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
