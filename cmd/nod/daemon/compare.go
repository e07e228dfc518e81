package daemon

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
)

// Reloaded is the result of a reload: the added, removed and changed parts of
// the config, such as "agent ci" or "metrics.token". Restart lists changed keys
// that take effect only after a restart.
type Reloaded struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
	Restart []string `json:"restart"`
}

// restartKeys are the keys of the config that take effect only after a restart.
var restartKeys = []string{"listen", "max_connections", "log_level", "redis", "retention", "traces"}

// blank reports whether a section is empty.
func blank(v reflect.Value) bool {
	if v.Kind() == reflect.Map || v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

// enough returns an error if a reload would remove a complete section of the
// file, such as all agents, the rules, or the token for the metrics. In that
// case, the file may be truncated.
func enough(was, c config.Config) error {
	has := map[string]bool{}
	c.Sections(func(key string, v reflect.Value) { has[key] = !blank(v) })
	var gone []string
	was.Sections(func(key string, v reflect.Value) {
		if !blank(v) && !has[key] {
			gone = append(gone, key)
		}
	})
	if len(gone) == 0 {
		return nil
	}
	return bridge.Errorf(bridge.CodeConflict, "the new config no longer has %s", strings.Join(gone, ", ")).
		WithHint("write the whole file and reload again, or restart nod to remove them")
}

// compare returns the additions, the removals and the changes between two
// configs.
func compare(was, c config.Config) Reloaded {
	before, after := parts(was), parts(c)
	out := Reloaded{Added: []string{}, Removed: []string{}, Changed: []string{}, Restart: []string{}}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		switch old, had := before[name]; {
		case !had:
			out.Added = append(out.Added, name)
		case !reflect.DeepEqual(old, after[name]):
			out.Changed = append(out.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[name]; !has {
			out.Removed = append(out.Removed, name)
		}
	}
	return out
}

// entryNames maps sections with several entries to the name of an entry, such
// as "agent".
var entryNames = map[string]string{
	"agents": "agent", "people": "person", "routes": "route", "groups": "group", "webhooks": "webhook", "oncall": "schedule",
}

// parts returns everything that a reload can change: entries by names such as
// "agent ci", and other settings by paths such as "metrics.token".
func parts(c config.Config) map[string]any {
	out := map[string]any{}
	c.Sections(func(key string, v reflect.Value) {
		switch entries := v.Interface().(type) {
		case []policy.Risk:
			for _, r := range entries {
				out["risk level "+r.Name] = r
			}
		case []policy.Rule:
			for n, r := range entries {
				name := r.Name
				if name == "" {
					name = strconv.Itoa(n + 1)
				}
				out["rule "+name+" ("+string(r.Then)+")"] = r
			}
		default:
			if !slices.Contains(restartKeys, key) {
				settings(out, key, v)
			}
		}
	})
	return out
}

// settings adds the settings below a key that have a value.
func settings(out map[string]any, path string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			name := path + "." + k.String()
			if kind := entryNames[path]; kind != "" {
				name = kind + " " + k.String()
			}
			out[name] = v.MapIndex(k).Interface()
		}
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[config.Secret]():
		for n := range v.NumField() {
			settings(out, path+"."+v.Type().Field(n).Tag.Get("yaml"), v.Field(n))
		}
	case !blank(v):
		out[path] = v.Interface()
	}
}

// needRestart returns the changed keys that take effect only after a restart.
func needRestart(a, b config.Config) []string {
	was := map[string]any{}
	a.Sections(func(key string, v reflect.Value) { was[key] = v.Interface() })
	out := []string{}
	b.Sections(func(key string, v reflect.Value) {
		if slices.Contains(restartKeys, key) && !reflect.DeepEqual(was[key], v.Interface()) {
			out = append(out, key)
		}
	})
	return out
}
