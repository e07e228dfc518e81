package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// conditions returns the conditions of a rule. Conditions on fields of the
// input have a row for each field.
func (r Rule) conditions() []condition {
	var out []condition
	for _, row := range conditions {
		if len(row.patterns(&r)) > 0 {
			out = append(out, row)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Input)) {
		names := field(strings.Split(name, "."))
		out = append(out, condition{
			key: "input." + name, of: ofInput, patterns: func(r *Rule) []string { return []string{r.Input[name]} },
			exact:    func(in *input, _ part) ([]string, string) { return find(in.tree, names, false), "" },
			readings: func(in *input, _ part) []string { return find(in.tree, names, true) },
			fields:   func(f field) bool { return len(f) >= len(names) && slices.Equal(f[:len(names)], names) },
			covers:   name + " like ",
		})
	}
	return out
}

// bound is a condition with the patterns of a rule.
type bound struct {
	condition
	same, anyCase patterns
}

func (c condition) bind(r Rule) (bound, error) {
	b := bound{condition: c}
	var err error
	if b.same, err = compile(c.patterns(&r), false); err != nil {
		return b, err
	}
	b.anyCase, err = compile(c.patterns(&r), !c.sensitive)
	return b, err
}

// exactly returns the reason that a condition of an allow rule does not hold,
// or "".
func (b bound) exactly(in *input, p part) string {
	var values []string
	unclear := ""
	if b.exact != nil {
		values, unclear = b.exact(in, p)
	} else {
		values = []string{*b.act(&in.Act)}
	}
	switch n := slices.IndexFunc(values, func(s string) bool { return !b.same.match(s) }); {
	case unclear != "":
		return b.key + ": " + unclear
	case len(values) == 0:
		return b.key + ": the request has none"
	case n >= 0:
		return fmt.Sprintf("%s: %q does not match", b.key, values[n])
	}
	return ""
}

// perhaps returns the reason that a condition of an ask or deny rule cannot
// hold, or "".
func (b bound) perhaps(in *input, p part) string {
	values := []string(nil)
	if b.readings != nil {
		values = b.readings(in, p)
	} else {
		values = []string{*b.act(&in.Act)}
	}
	if slices.ContainsFunc(values, b.anyCase.match) {
		return ""
	}
	return b.key + ": nothing matches"
}

// location returns the location in which a part runs.
func (in *input) location(p part) ([]string, string) {
	place := in.Where
	if p.moved {
		place = p.to
	}
	switch {
	case place == "":
		return nil, ""
	case !in.place():
		return nil, "the location is not an absolute, clean path"
	}
	return []string{place}, ""
}

// paths returns the files that the input names, except for the location of its
// commands.
func (in *input) paths(part) (values []string, unclear string) {
	for _, f := range in.files {
		if !f.location || len(in.lines) == 0 {
			values = append(values, f.abs)
		}
	}
	return values, ""
}

func (in *input) pathReadings(part) []string {
	var out []string
	for _, f := range in.files {
		out = append(out, f.readings()...)
	}
	return out
}

// Flag is a flag of nod policy test, which sets a part of an operation.
type Flag struct {
	Name, Usage string
	Text        func(*bridge.Act) *string
}

// Flags returns the flags for the conditions.
func Flags() []Flag {
	var out []Flag
	for _, c := range conditions {
		if c.act != nil {
			out = append(out, Flag{c.flag, c.usage, c.act})
		}
	}
	return out
}
