package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms"
)

// walk calls f with a value, and with the values inside if f returns true. Path
// is the path of the setting, and row is its path in docs/configuration.md. The
// entries of maps have the order of their names.
func walk(v reflect.Value, path, row string, f func(v reflect.Value, path, row string) (deeper bool)) {
	if !f(v, path, row) {
		return
	}
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, row, f)
		}
	case v.Kind() == reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			walk(v.MapIndex(name), below(path, name.String()), below(row, "NAME"), f)
		}
	case v.Kind() == reflect.Slice:
		for n := range v.Len() {
			walk(v.Index(n), fmt.Sprintf("%s[%d]", path, n), row+"[]", f)
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[Secret]() && v.Type() != reflect.TypeFor[time.Time]():
		visit(v, func(key string, v reflect.Value) { walk(v, below(path, key), below(row, key), f) })
	}
}

// Secrets returns the values of all secrets in the configuration.
func (c Config) Secrets() []string {
	var out []string
	walk(reflect.ValueOf(c), "", "", func(v reflect.Value, _, _ string) bool {
		if s, ok := v.Interface().(Secret); ok && s.Set() {
			out = append(out, s.Value())
			out = append(out, tokensIn(s)...)
		}
		return true
	})
	return out
}

// variables returns the names of the variables that set the settings.
func (c Config) variables() map[string]bool {
	known := map[string]bool{}
	walk(reflect.ValueOf(c), "", "", func(v reflect.Value, path, _ string) bool {
		_, secret := v.Interface().(Secret)
		inside := v.Kind() == reflect.Map || v.Kind() == reflect.Struct && !secret
		if !inside {
			known["NOD_"+variable(path)] = true
		}
		return inside
	})
	return known
}

// sections are the names of an entry of each section that others refer to.
var sections = map[string]string{"people": "person", "routes": "route", "agents": "agent", "oncall": "schedule"}

// checkValues checks the IDs of platforms, the names of other entries, and time
// zones.
func (c Config) checkValues(bad func(path, format string, args ...any)) {
	named := map[string]reflect.Value{}
	c.Sections(func(key string, v reflect.Value) { named[key] = v })
	walk(reflect.ValueOf(c), "", "", func(v reflect.Value, path, row string) bool {
		text, l := v.String(), limitOf(row)
		if v.Kind() != reflect.String || text == "" {
			return true
		}
		if l.of != "" && !named[l.of].MapIndex(v).IsValid() {
			bad(path, "unknown %s %q; add it under %s", sections[l.of], text, l.of)
		}
		if _, err := time.LoadLocation(text); l.zone && err != nil {
			bad(path, "unknown time zone %q (such as Europe/Madrid)", text)
		}
		if problem := l.form.Check(text); l.form != (platforms.ID{}) && problem != "" {
			bad(path, "%s", problem)
		}
		return true
	})
}
