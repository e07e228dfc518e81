package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/kinds"
)

// byPlatform is the tag of a map whose keys are names of platforms. In the
// file, these keys are part of the mapping that contains the map.
const byPlatform = ",inline"

// Platforms returns the names of the platforms that have a token.
func (c Config) Platforms() []string {
	var out []string
	for _, k := range kinds.All {
		if s, ok := c.Connections[k.Name]; ok && hasToken(s) {
			out = append(out, k.Name)
		}
	}
	return out
}

func hasToken(settings any) bool { return !reflect.ValueOf(settings).Elem().Field(0).IsZero() }

// Connection returns the settings of a platform, such as *slack.Settings. If
// the config has none, it adds them.
func (c *Config) Connection(k platforms.Kind) any {
	if c.Connections == nil {
		c.Connections = map[string]any{}
	}
	if c.Connections[k.Name] == nil {
		c.Connections[k.Name] = k.Settings()
	}
	return c.Connections[k.Name]
}

// Account returns the person's ID on a platform, or an empty string.
func (p Person) Account(platform string) string { return p.Accounts[platform] }

// Addresses returns the URLs at which platforms reach nod.
func (c Config) Addresses() []string {
	var out []string
	for _, k := range kinds.All {
		if s := c.Connections[k.Name]; s != nil && k.Address != nil {
			out = append(out, k.Address(s))
		}
	}
	return out
}

// settingsFrom takes the settings of the platforms from the keys of a document.
func (c *Config) settingsFrom(keys []pair) error {
	c.Connections = nil
	for _, p := range keys {
		if k, ok := kinds.Named(p.key.Value); ok {
			if err := p.value.Decode(c.Connection(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPlatforms checks the settings of each platform in combination.
func (c Config) checkPlatforms(bad func(path, format string, args ...any)) {
	for _, k := range kinds.All {
		s := c.Connections[k.Name]
		if s == nil {
			continue
		}
		if k.Check != nil {
			k.Check(s, func(key, format string, args ...any) { bad(strings.TrimSuffix(k.Name+"."+key, "."), format, args...) })
		}
		v := reflect.ValueOf(s).Elem()
		token := v.Type().Field(0).Tag.Get("yaml")
		for n := range v.NumField() {
			key := v.Type().Field(n).Tag.Get("yaml")
			switch {
			case v.Field(n).IsZero():
			case !hasToken(s):
				bad(k.Name+"."+key, "not used without %s.%s; set both or neither", k.Name, token)
			case key == k.Replaced && c.Sandbox != "":
				bad(k.Name+"."+key, "not used, because sandbox replaces it; remove one of them")
			}
		}
	}
}

// Target is a parsed entry of Route.To.
type Target struct{ Platform, Channel, Thread string }

// ParseTarget parses PLATFORM:CHANNEL or PLATFORM:CHANNEL/THREAD.
func ParseTarget(s string) (Target, error) {
	platform, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		var like []string
		for _, k := range kinds.All {
			like = append(like, k.Name+":"+k.Channel.Like)
		}
		return Target{}, fmt.Errorf("invalid destination %q (such as %s)", s, OrOf(like))
	}
	k, known := kinds.Named(platform)
	if !known {
		return Target{}, fmt.Errorf("unknown platform %q in %q; use %s", platform, s, OrOf(kinds.Names()))
	}
	channel, thread, _ := strings.Cut(rest, "/")
	problem := k.Channel.Check(channel)
	if problem == "" && thread != "" {
		problem = k.Thread.Check(thread)
	}
	if problem != "" {
		return Target{}, fmt.Errorf("%s in %q", problem, s)
	}
	return Target{platform, channel, thread}, nil
}

// OrOf joins words in the form "a, b or c".
func OrOf(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or ", " or ") + words[last]
}

// fieldsOf returns the keys of a mapping: the fields of a struct, with a field
// for each platform in place of a map by platform.
func fieldsOf(t reflect.Type) []reflect.StructField {
	var out []reflect.StructField
	for n := range t.NumField() {
		f := t.Field(n)
		switch {
		case !f.IsExported():
		case f.Tag.Get("yaml") == byPlatform:
			for _, k := range kinds.All {
				of := f.Type.Elem()
				if of.Kind() == reflect.Interface {
					of = reflect.TypeOf(k.Settings()).Elem()
				}
				out = append(out, reflect.StructField{Name: k.Title, Type: of, Tag: reflect.StructTag(`yaml:"` + k.Name + `"`), Offset: uintptr(n)})
			}
		default:
			out = append(out, f)
		}
	}
	return out
}

// visit calls f with the value of each key of a mapping, and stores the changes
// that f makes. If v cannot be set, f must not change the values.
func visit(v reflect.Value, f func(key string, v reflect.Value)) {
	for _, field := range fieldsOf(v.Type()) {
		key := field.Tag.Get("yaml")
		if field.Index != nil {
			f(key, v.FieldByIndex(field.Index))
			continue
		}
		all, entry := v.Field(int(field.Offset)), reflect.New(field.Type)
		was := all.MapIndex(reflect.ValueOf(key))
		if was.IsValid() {
			entry.Elem().Set(settled(was))
		}
		f(key, entry.Elem())
		if entry.Elem().IsZero() && !was.IsValid() || !v.CanSet() {
			continue
		}
		if all.IsNil() {
			all.Set(reflect.MakeMap(all.Type()))
		}
		if all.Type().Elem().Kind() != reflect.Interface {
			entry = entry.Elem()
		}
		all.SetMapIndex(reflect.ValueOf(key), entry)
	}
}

// settled returns the content of an entry of a map by platform.
func settled(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem().Elem()
	}
	return v
}

// Sections calls f with each key of the config file and its value.
func (c Config) Sections(f func(key string, v reflect.Value)) { visit(reflect.ValueOf(c), f) }

// conventional maps the paths of the platforms' settings to their conventional
// variables, such as SLACK_BOT_TOKEN.
func conventional() map[string]string {
	out := map[string]string{}
	for _, k := range kinds.All {
		t := reflect.TypeOf(k.Settings()).Elem()
		for n := range t.NumField() {
			if name := t.Field(n).Tag.Get("env"); name != "" {
				out[k.Name+"."+t.Field(n).Tag.Get("yaml")] = name
			}
		}
	}
	return out
}

// limitOf returns the limit of a setting.
func limitOf(row string) limit {
	section, name, _ := strings.Cut(row, ".NAME.")
	switch k, known := kinds.Named(name); {
	case known && section == "people":
		return limit{form: k.Account}
	case known && section == "groups":
		return limit{form: k.Group}
	}
	return limits[row]
}
