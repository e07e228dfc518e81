package config

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// variables applies the environment. Variables that start with NOD_ override
// the conventional names, and both override the file. A variable such as
// NOD_AGENTS_<NAME>_TOKEN applies only to an entry that the file already has.
func (r *reader) variables(c *Config, environ []string) {
	common := conventional()
	given := func(name string) bool {
		return slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	var walk func(v reflect.Value, name, path, row string)
	walk = func(v reflect.Value, name, path, row string) {
		t := v.Type()
		switch {
		case t.Kind() == reflect.Map:
			for _, k := range v.MapKeys() {
				entry := reflect.New(t.Elem()).Elem()
				entry.Set(v.MapIndex(k))
				walk(entry, name+"_"+variable(k.String()), below(path, k.String()), below(row, "NAME"))
				v.SetMapIndex(k, entry)
			}
		case t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]() && t != reflect.TypeFor[time.Time]():
			visit(v, func(key string, v reflect.Value) { walk(v, name+"_"+variable(key), below(path, key), below(row, key)) })
		default:
			for _, name := range []string{common[path], name} {
				if name != "" && given(name) {
					r.assign(v, name, path, row)
				}
			}
		}
	}
	walk(reflect.ValueOf(c).Elem(), "NOD", "", "")
}

// assign sets a setting to the value of a variable.
func (r *reader) assign(v reflect.Value, name, path, row string) {
	r.from = name
	defer func() { r.from = "" }()
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: r.env[name]}
	switch t := v.Type(); {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for item := range strings.SplitSeq(n.Value, ",") {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: textTag, Value: strings.TrimSpace(item)})
		}
		if strings.TrimSpace(n.Value) != "" {
			n = list
		}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Pointer:
		r.bad(n, path, "cannot be set with a variable; set it in the config file")
		return
	case t.Kind() == reflect.String, t.Kind() == reflect.Struct:
		n.Tag = textTag
		n.Value = strings.TrimSpace(n.Value)
	}
	before := len(r.errs)
	r.value(n, v.Type(), path, row, 0)
	if len(r.errs) == before {
		if err := n.Decode(v.Addr().Interface()); err != nil {
			r.bad(n, path, "%v", err)
		}
	}
}

// Variable returns the name of the environment variable for a key: the
// conventional name for the token of a platform, or NOD_ and the path in
// capitals.
func Variable(path ...string) string { return Variables(path...)[0] }

// Variables returns the names of all environment variables for a key. A later
// one overrides an earlier one.
func Variables(path ...string) []string {
	own := "NOD_" + variable(strings.Join(path, "_"))
	if name := conventional()[strings.Join(path, ".")]; name != "" {
		return []string{name, own}
	}
	return []string{own}
}

func variable(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, key)
}
