package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// patterns are alternatives.
type patterns []*regexp.Regexp

func compile(from []string) (patterns, error) {
	var out patterns
	for _, s := range from {
		if s == "" {
			return nil, fmt.Errorf("an empty pattern matches nothing")
		}
		re, err := regexp.Compile(expression(s))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		out = append(out, re)
	}
	return out, nil
}

// expression is a pattern as a regular expression for the whole text.
func expression(s string) string {
	if len(s) > 1 && s[0] == '/' && s[len(s)-1] == '/' {
		return `(?s)^(?:` + s[1:len(s)-1] + `)$`
	}
	tail := `$`
	if rest, ok := strings.CutSuffix(s, " *"); ok {
		s, tail = rest, `(?: .*)?$` // the command alone, or with arguments
	}
	quoted := regexp.QuoteMeta(s)
	return `(?s)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted) + tail
}

func (p patterns) match(s string) bool {
	return slices.ContainsFunc(p, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// input is an act, taken apart once for all rules.
type input struct {
	bridge.Act
	tree     any
	commands []string // of a shell line; one empty one where there is none
	isShell  bool
	opaque   string // what a shell could hide, in words; empty: nothing
	file     string // that the input names, made absolute where that is known
}

func read(a bridge.Act) input {
	in := input{Act: a, commands: []string{""}}
	dec := json.NewDecoder(bytes.NewReader(a.Input))
	dec.UseNumber()
	if dec.Decode(&in.tree) != nil {
		return in
	}
	fields, _ := in.tree.(map[string]any) // no object has no fields
	for _, name := range []string{"command", "cmd", "argv", "script"} {
		switch v := fields[name].(type) {
		case string:
			in.shell(v)
		case []any:
			in.argv(v)
		}
		if in.isShell {
			break
		}
	}
	for _, name := range []string{"file_path", "path", "filename", "notebook_path"} {
		s, ok := fields[name].(string)
		if !ok || s == "" {
			continue
		}
		if !path.IsAbs(s) && a.Where != "" {
			s = a.Where + "/" + s
		}
		in.file = path.Clean(s)
		break
	}
	return in
}

// matches reports whether a rule does, and says why.
func (c compiled) matches(in input, command string) (string, bool) {
	allow := c.Then == bridge.EffectAllow
	switch {
	case len(c.agents) > 0 && !c.agents.match(in.Agent):
		return "the agent is another", false
	case len(c.tools) > 0 && !c.tools.match(in.Tool):
		return "the tool is another", false
	case len(c.where) > 0 && !c.where.match(in.Where):
		return "the place is another", false
	case len(c.command) > 0 && !in.isShell:
		return "the input has no command", false
	case len(c.command) > 0 && !c.command.match(command):
		return "the command does not match", false
	case len(c.path) > 0 && (in.file == "" || !c.path.match(in.file)):
		return "the file does not match", false
	}
	for _, f := range c.input {
		values := find(in.tree, strings.Split(f.name, "."))
		miss := func(s string) bool { return !f.pattern.match(s) }
		hit := len(values) > 0 && !slices.ContainsFunc(values, miss)
		if !allow { // one of several is enough to be careful
			hit = slices.ContainsFunc(values, f.pattern.match)
		}
		if !hit {
			return "input." + f.name + " does not match", false
		}
	}
	return "matches, so: " + string(c.Then), true
}

// find returns the values of a field as texts; lists on the way are looked
// into.
func find(tree any, names []string) []string {
	if list, ok := tree.([]any); ok {
		var out []string
		for _, v := range list {
			out = append(out, find(v, names)...)
		}
		return out
	}
	if len(names) > 0 {
		fields, _ := tree.(map[string]any) // nil where it is none
		v, ok := fields[names[0]]
		if !ok {
			return nil
		}
		return find(v, names[1:])
	}
	switch v := tree.(type) {
	case string:
		return []string{v}
	case json.Number:
		return []string{v.String()}
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil // decoded from JSON a moment ago
	}
	return []string{string(raw)}
}

// words say what a rule matches.
func (c compiled) words() string {
	var s []string
	for _, list := range [][]string{c.Command, c.Path} {
		if len(list) > 0 {
			s = append(s, "`"+strings.Join(list, "` or `")+"`")
		}
	}
	for _, f := range c.input {
		s = append(s, f.name+" like `"+c.Input[f.name]+"`")
	}
	if len(s) == 0 {
		return "anything that the rule " + c.Name + " is about"
	}
	return strings.Join(s, ", ")
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
