package policy

import (
	"encoding/json"
	"errors"
	"fmt"
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
	base  string // directory in the cd command, as written
}

// covers reports whether an allow rule, or a grant by the rule, covers a part.
// If not, it returns the reason. It covers only parts that are fully
// understood.
func (c compiled) covers(in *input, p part) (string, bool) {
	for _, why := range []func() string{
		func() string { return missed(c.origin, func(b bound) string { return b.exactly(in, p) }) },
		func() string { return c.doubts(in, p) },
		func() string { return c.coversCommand(in, p) },
		func() string { return missed(c.content, func(b bound) string { return b.exactly(in, p) }) },
		func() string { return c.coversFields(in) },
	} {
		if reason := why(); reason != "" {
			return reason, false
		}
	}
	return "matches", true
}

// missed returns the first reason that a condition does not hold, or "".
func missed(all []bound, why func(bound) string) string {
	for _, b := range all {
		if reason := why(b); reason != "" {
			return reason
		}
	}
	return ""
}

// doubts returns the reason why no rule may cover a part, regardless of its
// conditions.
func (c compiled) doubts(in *input, p part) string {
	switch {
	case p.moved && len(c.Where) == 0 && p.to != in.Where && configured[program(p.words[0])]:
		return p.words[0] + " runs programs that are configured in its directory, and the rule has no where condition for the directory of the cd"
	case len(in.doubts) > 0:
		return in.doubts[0]
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

// onlyReads returns the reason that a command may do more than read files of
// the project, which are the files below the location of the request.
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

// careful returns the reason that people are asked about a command although its
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
	knows := func(f field) bool {
		return slices.ContainsFunc(c.content, func(b bound) bool { return b.fields != nil && b.fields(f) })
	}
	for _, f := range in.files {
		switch location := f.location && len(in.lines) > 0; {
		case f.bad != "" && !(f.weak && len(c.Path) == 0):
			return fmt.Sprintf("the path %q %s", f.raw, f.bad)
		case location && f.abs == in.Where, knows(f.name):
		case location:
			return fmt.Sprintf("%s differs from the location of the request", f.name)
		case len(c.Path) == 0 && c.conditional():
			return fmt.Sprintf("the rule has no condition for the field %q", f.name)
		}
	}
	for _, l := range in.leaves {
		if c.conditional() && !knows(l.name) && !l.harmless() {
			return fmt.Sprintf("the rule has no condition for the field %q", l.name)
		}
	}
	return ""
}

// conditional reports whether a rule has conditions on the input.
func (c compiled) conditional() bool {
	return len(c.command)+len(c.content) > 0 || c.Reads != ""
}

// about reports whether an ask or deny rule may apply to a part. If not, it
// returns the reason. The function command matches the command.
func (c compiled) about(in *input, p part, command func(wordPattern) bool) (string, bool) {
	why := missed(c.origin, func(b bound) string { return b.perhaps(in, p) })
	switch {
	case why != "":
		return why, false
	case len(c.command) > 0 && p.line == nil:
		return "the input has no command", false
	case len(c.command) > 0 && !slices.ContainsFunc(c.command, command):
		return "the command does not match", false
	}
	if why = missed(c.content, func(b bound) string { return b.perhaps(in, p) }); why != "" {
		return why, false
	}
	return "matches", true
}

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

// find returns the values of a field as strings. It descends into lists. With
// anyCase, it ignores the case and the separators of names: a field with the name
// "env.name" then counts as the field name in env.
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
			for n := range names {
				if n == 0 && name == names[0] || anyCase && normal(name) == normal(strings.Join(names[:n+1], "")) {
					out = append(out, find(v, names[n+1:], anyCase)...)
				}
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
		return nil // encoding values decoded from JSON never fails
	}
	return []string{string(raw)}
}

// words describes the coverage of a grant by the rule.
func (c compiled) words() string {
	var s []string
	if len(c.Command) > 0 {
		s = append(s, anyOf(c.Command))
	}
	with := ""
	for _, b := range slices.Concat(c.origin, c.content) {
		switch text := b.covers + anyOf(b.patterns(&c.Rule)); b.of {
		case ofTool:
			with = " " + text
		case ofInput:
			s = append(s, text)
		}
	}
	switch {
	case c.Options == nil:
	case len(c.Options) == 0:
		s = append(s, "without options")
	default:
		s = append(s, "only with the options `"+strings.Join(c.Options, "`, `")+"`")
	}
	if len(s) == 0 {
		s = []string{"everything the rule " + c.Name + " matches"}
	}
	return strings.Join(s, ", ") + with
}

func anyOf(patterns []string) string { return "`" + strings.Join(patterns, "` or `") + "`" }

// allows reports whether the effect of a rule is allow.
func (c compiled) allows() bool { return c.Then == bridge.EffectAllow }
