package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Messages of the YAML decoder, which name types of Go.
var (
	unknownKey = regexp.MustCompile(`^(line \d+): field (.+) not found in type \S+$`)
	repeated   = regexp.MustCompile(`^(line \d+): field (.+) already set in type \S+$`)
	wrongType  = regexp.MustCompile("^(line \\d+): cannot unmarshal (!!\\S+)(?: `(.*)`)? into (\\S+)$")
)

// kinds names the tags of YAML.
var kinds = map[string]string{
	mapping: "a mapping", "!!seq": "a list", "!!str": "text", "!!int": "a number", "!!float": "a number", "!!bool": "true or false", "!!null": "nothing",
}

// worded puts an error of the YAML decoder into plain words, one line for each
// problem. For a removed key, it also says what replaces it.
func worded(err error, removed map[string]string) error {
	e, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	out := make([]error, len(e.Errors))
	for n, s := range e.Errors {
		out[n] = errors.New(problem(s, removed))
	}
	return errors.Join(out...)
}

func problem(s string, removed map[string]string) string {
	if m := unknownKey.FindStringSubmatch(s); m != nil {
		if instead, was := removed[lineKey(m[1], m[2])]; was {
			return fmt.Sprintf("%s: removed key %q; %s", m[1], m[2], instead)
		}
		return fmt.Sprintf("%s: unknown key %q", m[1], m[2])
	}
	if m := repeated.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("%s: duplicate key %q", m[1], m[2])
	}
	if m := wrongType.FindStringSubmatch(s); m != nil {
		if said, was := removed[lineKey(m[1], m[2])]; was {
			return m[1] + ": " + said
		}
		got := kinds[m[2]]
		if m[3] != "" {
			got = fmt.Sprintf("%q", m[3])
		}
		return fmt.Sprintf("%s: %s is required, not %s", m[1], wanted(m[4]), got)
	}
	return s
}

// wanted names what a type of Go holds.
func wanted(t string) string {
	switch {
	case strings.HasPrefix(t, "[]"), strings.HasSuffix(t, ".Words"):
		return "a list"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "float"), strings.HasPrefix(t, "uint"):
		return "a number"
	case t == "bool":
		return "true or false"
	case t == "string":
		return "text"
	}
	return "a mapping"
}
