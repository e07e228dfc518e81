package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// patterns are alternatives, one of which must match a complete text.
type patterns []*regexp.Regexp

func compile(from []string, fold bool) (patterns, error) {
	var out patterns
	for _, s := range from {
		if s == "" {
			return nil, errors.New("an empty pattern matches nothing")
		}
		re, err := compileText(s, fold)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		out = append(out, re)
	}
	return out, nil
}

func (p patterns) match(s string) bool {
	return slices.ContainsFunc(p, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// part is the unit that rules are matched against: a command of a line, or an
// input without commands.
type part struct {
	line  *line // nil if the input has no command
	words []string
	// moved means that a cd precedes the part, and to is the new location if it
	// is known.
	moved bool
	to    string
	base  string // the directory of the cd, as written
}

// covers reports whether an allow rule, or a grant by the rule, covers a part,
// and otherwise the reason. It covers only what is fully understood.
func (c compiled) covers(in *input, p part) (string, bool) {
	why := c.coversOrigin(in, p)
	if why == "" {
		why = c.coversCommand(in, p)
	}
	if why == "" {
		why = c.coversInput(in)
	}
	if why == "" {
		why = c.coversFields(in)
	}
	if why != "" {
		return why, false
	}
	return "matches", true
}

// coversOrigin returns a reason unless the rule is for the agent, the tool and
// the location of a part.
func (c compiled) coversOrigin(in *input, p part) string {
	place := in.Where
	if p.moved {
		place = p.to
	}
	switch {
	case len(c.agents) > 0 && !c.agents.match(in.Agent):
		return "the rule is for other agents"
	case len(c.tools) > 0 && !c.tools.match(in.Tool):
		return "the rule is for other tools"
	case len(c.where) > 0 && (place == "" || !c.where.match(place)):
		return "the rule is for other locations"
	case len(c.where) > 0 && !in.place():
		return "the location is not an absolute, clean path"
	case p.moved && len(c.where) == 0 && p.to != in.Where && configured[program(p.words[0])]:
		return p.words[0] + " runs what its directory names, and the rule does not say after which cd (where)"
	case len(in.doubts) > 0:
		return in.doubts[0]
	}
	return ""
}

// coversInput returns a reason unless the fields of an input match the rule's
// conditions.
func (c compiled) coversInput(in *input) string {
	for _, f := range c.input {
		values := find(in.tree, f.names, false)
		if len(values) == 0 || slices.ContainsFunc(values, func(s string) bool { return !f.pattern.match(s) }) {
			return "input." + f.name + " does not match"
		}
	}
	return ""
}

func (c compiled) coversCommand(in *input, p part) string {
	switch {
	case p.line == nil && len(c.command) == 0 && c.Reads == "":
		return ""
	case p.line == nil:
		return "the input has no command"
	case len(c.command) == 0 && c.Reads == "":
		return "the input has a command and the rule has none"
	case p.line.err != nil:
		return "the line is not plain: " + p.line.err.Error()
	}
	if c.Reads != "" {
		if why := in.onlyReads(p); why != "" || len(c.command) == 0 {
			return why
		}
	}
	why := "the command does not match"
	for _, pattern := range c.command {
		spelled, ok := pattern.exact(p.line.names(p.words), p.words)
		if !ok {
			continue
		}
		if c.Reads != "" {
			return ""
		}
		if why = c.careful(p, spelled); why == "" {
			return ""
		}
	}
	return why
}

// onlyReads returns the reason why a command may do more than read files of the
// project, which is the location of the request.
func (in *input) onlyReads(p part) string {
	if p.words[0] == "cd" && p.line.program == "" {
		if !below(p.words[1], in.Where, "") {
			return "cd leaves the project"
		}
		return ""
	}
	if p.moved && !below(p.base, in.Where, "") {
		return "a cd leaves the project"
	}
	why := ""
	for _, name := range p.line.names(p.words) {
		var files []operand
		if files, why = readsOf(append([]string{name}, p.words[1:]...)); why == "" {
			return inside(files, in.Where, p.base)
		}
	}
	return why
}

// careful returns the reason why people are asked about a command although its
// words match.
func (c compiled) careful(p part, spelled []bool) string {
	all := !slices.Contains(spelled, false)
	if starts(p.words) && !all {
		return p.words[0] + " starts another command or changes files, and the rule does not spell out every word"
	}
	for n, w := range p.words {
		if climbs(w) && !spelled[n] {
			return fmt.Sprintf("%q names a parent directory, and the rule does not spell it out", w)
		}
		option := n > 0 && strings.HasPrefix(w, "-") && !spelled[n]
		listed := slices.ContainsFunc(c.options, func(o wordPattern) bool { return o.one(w) })
		if option && c.Options != nil && !listed {
			return fmt.Sprintf("the rule does not list the option %q", w)
		}
	}
	if p.moved && (strings.HasPrefix(p.words[0], "./") || strings.HasPrefix(p.words[0], "../")) {
		return "the command name is relative and follows a cd"
	}
	return ""
}

// coversFields returns a reason unless the rule has a condition for every field
// of the input, or no conditions on the input at all.
func (c compiled) coversFields(in *input) string {
	for _, f := range in.files {
		if why := c.coversFile(in, f); why != "" {
			return why
		}
	}
	named := func(f file) bool { return !f.location || len(in.lines) == 0 }
	if len(c.path) > 0 && !slices.ContainsFunc(in.files, named) {
		return "the input names no file"
	}
	if !c.conditional() {
		return ""
	}
	for _, l := range in.leaves {
		if !c.names(l.name) && !l.harmless() && !(len(c.path) > 0 && l.content()) {
			return fmt.Sprintf("the rule has no condition for the field %q", l.name)
		}
	}
	return ""
}

// coversFile returns a reason unless a path of an input matches the rule.
func (c compiled) coversFile(in *input, f file) string {
	location := f.location && len(in.lines) > 0
	switch {
	case f.bad != "" && !(f.weak && len(c.path) == 0):
		return fmt.Sprintf("the path %q %s", f.raw, f.bad)
	case c.names(f.name), location && f.abs == in.Where:
		return ""
	case location:
		return fmt.Sprintf("%s differs from the location of the request", f.name)
	case len(c.path) > 0 && !c.path.match(f.abs):
		return fmt.Sprintf("the path %q does not match", f.raw)
	case len(c.path) == 0 && c.conditional():
		return fmt.Sprintf("the rule has no condition for the field %q", f.name)
	}
	return ""
}

// conditional reports whether a rule has conditions on the input.
func (c compiled) conditional() bool {
	return len(c.command)+len(c.path)+len(c.input) > 0 || c.Reads != ""
}

// names reports whether a rule has a condition for a field or for an object
// that contains it.
func (c compiled) names(name string) bool {
	return slices.ContainsFunc(c.input, func(f field) bool { return strings.HasPrefix(name+".", f.name+".") })
}

// about reports whether an ask or deny rule may apply to a part, and otherwise
// the reason. The function command matches the command.
func (c compiled) about(in *input, p part, command func(wordPattern) bool) (string, bool) {
	switch {
	case len(c.agents) > 0 && !c.agents.match(in.Agent):
		return "the rule is for other agents", false
	case len(c.anyTools) > 0 && !c.anyTools.match(in.Tool):
		return "the rule is for other tools", false
	case len(c.anyWhere) > 0 && !slices.ContainsFunc(in.places(p), c.anyWhere.match):
		return "the rule is for other locations", false
	case len(c.command) > 0 && p.line == nil:
		return "the input has no command", false
	case len(c.command) > 0 && !slices.ContainsFunc(c.command, command):
		return "the command does not match", false
	case len(c.anyPath) > 0 && !slices.ContainsFunc(in.files, c.aboutFile):
		return "no path matches", false
	}
	for _, f := range c.input { // one matching value is enough for ask and deny
		if !slices.ContainsFunc(find(in.tree, f.names, true), f.anyCase.match) {
			return "input." + f.name + " does not match", false
		}
	}
	return "matches", true
}

func (c compiled) aboutFile(f file) bool { return slices.ContainsFunc(f.readings(), c.anyPath.match) }

// places returns the locations in which a part may run.
func (in *input) places(p part) []string {
	out := []string{in.Where, path.Clean(in.Where)}
	for _, f := range in.files {
		if f.location {
			out = append(out, f.readings()...)
		}
	}
	if p.to != "" {
		out = append(out, p.to)
	}
	return out
}

// find returns the values of a field as strings. It descends into lists.
func find(tree any, names []string, anyCase bool) []string {
	if list, ok := tree.([]any); ok {
		var out []string
		for _, v := range list {
			out = append(out, find(v, names, anyCase)...)
		}
		return out
	}
	if len(names) > 0 {
		fields, _ := tree.(map[string]any) // nil for other kinds of values
		var out []string
		for name, v := range fields {
			if name == names[0] || anyCase && normal(name) == normal(names[0]) {
				out = append(out, find(v, names[1:], anyCase)...)
			}
		}
		return out
	}
	switch v := tree.(type) {
	case string:
		return []string{v}
	case json.Number:
		return []string{v.String()}
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil // values decoded from JSON always encode
	}
	return []string{string(raw)}
}

// words returns a description of what a grant by the rule covers.
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
	switch {
	case c.Options == nil:
	case len(c.Options) == 0:
		s = append(s, "without options")
	default:
		s = append(s, "only with the options `"+strings.Join(c.Options, "`, `")+"`")
	}
	out := strings.Join(s, ", ")
	if out == "" {
		out = "everything the rule " + c.Name + " matches"
	}
	if len(c.Tools) > 0 {
		out += " with the tool `" + strings.Join(c.Tools, "` or `") + "`"
	}
	return out
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// allows reports whether the effect of a rule is allow.
func (c compiled) allows() bool { return c.Then == bridge.EffectAllow }
