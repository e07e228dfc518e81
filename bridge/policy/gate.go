package policy

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Gate selects tool calls that need a person.
type Gate struct {
	// Tools matches the names of tools: an exact name, a list or a regular
	// expression.
	Tools string
	// Rule limits the calls of the tools, such as git push *. If it is empty, the
	// gate selects all of them.
	Rule string
}

// ruled is a tool with a rule for its calls, such as Bash(git push *).
var ruled = lazyregexp.New(`^([A-Za-z][A-Za-z0-9]*)\((.+)\)$`)

// ParseGates parses gates that are separated by |. A gate is a tool with a
// rule, in the syntax of Claude Code's permission rules, or an expression for
// tool names, such as mcp__prod__.*. It returns CodeInvalid for any other text.
// The result is never nil. It is empty for an empty text.
func ParseGates(text string) ([]Gate, error) {
	out := []Gate{}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	parts, err := splitGates(text)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if m := ruled.FindStringSubmatch(part); m != nil {
			g := Gate{m[1], m[2]}
			if anyCall[strings.TrimSpace(g.Rule)] {
				g.Rule = ""
			}
			out = append(out, g)
			continue
		}
		if part == "" {
			return nil, bridge.Errorf(bridge.CodeInvalid, "--gate: empty part in %q", text)
		}
		if _, err := regexp.Compile(part); part != "*" && (err != nil || strings.ContainsAny(part, " \t'\"")) {
			return nil, bridge.Errorf(bridge.CodeInvalid, "--gate: %q is neither a tool name nor a rule", part).
				WithHint("use a tool with a rule, such as Bash(git push *), or a name, such as Write or mcp__prod__.*")
		}
		out = append(out, Gate{Tools: part})
	}
	return out, nil
}

// anyCall are the rules that every call of a tool matches.
var anyCall = set("* ** :*")

// splitGates splits at each | outside parentheses.
func splitGates(text string) ([]string, error) {
	var out []string
	depth, begin := 0, 0
	for n, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == '|' && depth == 0:
			out = append(out, text[begin:n])
			begin = n + 1
		}
	}
	if depth != 0 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "--gate: missing ) in %q", text)
	}
	return append(out, text[begin:]), nil
}

// String returns the gate in the form that ParseGates reads.
func (g Gate) String() string {
	if g.Rule == "" {
		return g.Tools
	}
	return g.Tools + "(" + g.Rule + ")"
}

// families lists Claude Code tools that do the same thing in different ways. A
// rule for a tool applies to its whole family.
var families = [][]string{
	{"Bash", "Monitor", "PowerShell", "mcp__workspace__bash"},
	{"Edit", "MultiEdit", "NotebookEdit", "Write"},
	{"Glob", "Grep", "LS", "NotebookRead", "Read"},
}

// Family returns the tools to which a gate applies, separated by |. A gate for
// Bash and a gate with a rule apply to the whole family of tools.
func (g Gate) Family() string {
	for _, family := range families {
		if slices.Contains(family, g.Tools) && (g.Rule != "" || g.Tools == "Bash") {
			return strings.Join(family, "|")
		}
	}
	return g.Tools
}

// selecting returns the name of the first gate that selects an act. A gate that
// cannot be read selects everything.
func selecting(text string, in *input) (name string, ok bool) {
	gates, err := ParseGates(text)
	if err != nil {
		return "gate", true
	}
	n := slices.IndexFunc(gates, func(g Gate) bool { return g.selects(in) })
	if n < 0 {
		return "", false
	}
	return "gate " + gates[n].String(), true
}

// selects reports whether the gate may apply to an act.
func (g Gate) selects(in *input) bool {
	is := func(family []string) bool { return slices.Contains(family, in.Tool) }
	switch family := g.Family(); {
	case g.Rule != "" && slices.ContainsFunc(families, is) && !slices.Contains(strings.Split(family, "|"), in.Tool):
		return false // the gate of another family applies to this tool
	case g.Rule == "" && g.Tools == "*":
		return true
	case g.Rule == "":
		re, err := regexp.Compile("^(?:" + family + ")$")
		return err != nil || re.MatchString(in.Tool)
	case strings.HasPrefix(family, "Bash|"):
		return g.runs(in)
	case strings.Contains(family, "|"):
		return g.names(in)
	case strings.HasPrefix(g.Rule, "domain:"):
		return g.contacts(in)
	}
	return true // the meaning of the rule is unknown
}

// names reports whether an input names a file that matches the rule. The rule
// may match a part of the path.
func (g Gate) names(in *input) bool {
	rule := strings.TrimLeft(path.Clean("/"+strings.TrimPrefix(g.Rule, "~")), "/")
	parts := strings.Split(rule, "**/")
	for n, part := range parts {
		parts[n] = globExpression(strings.ReplaceAll(part, "**", "*"))
	}
	re, err := regexp.Compile("(?is)^(.*/)?" + strings.Join(parts, "(.*/)?") + "(/.*)?$")
	if err != nil || !plainRule.MatchString(rule) || len(in.files) == 0 || len(in.doubts) > 0 {
		return true
	}
	return slices.ContainsFunc(in.files, func(f file) bool {
		searched := in.Tool == "Grep" && path.Ext(f.raw) == "" // Grep searches a directory with all of its files
		return searched || slices.ContainsFunc(f.readings(), re.MatchString)
	})
}

// plainRule matches rules for files that contain no character class. plainHost
// matches host names that every program reads in the same way.
var (
	plainRule = lazyregexp.New(`^[\w ./*?@+,=~-]*$`)
	plainHost = lazyregexp.New(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)
)

// contacts reports whether an input may contain a URL of the domain, or
// contains no URL.
func (g Gate) contacts(in *input) bool {
	domain := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(g.Rule, "domain:")), "*."))
	found := false
	for _, l := range in.leaves {
		s, _ := l.value.(string)
		name := l.name.String()
		named := urlNames[normal(name[strings.LastIndexByte(name, '.')+1:])]
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.Host == "" {
			if named {
				return true
			}
			continue
		}
		found = found || named
		host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if !plainHost.MatchString(host) || host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	found = found && plainHost.MatchString(domain)
	return !found || len(in.files) > 0 || len(in.doubts) > 0
}

// bash lists the shells whose syntax the parser understands.
var bash = set("sh bash dash ash ksh ksh93 mksh zsh")

// anyShell matches lines that every shell reads in the same way, including the
// shells of Windows.
var anyShell = lazyregexp.New(`^[\w \n./:@+,=|;&-]*$`)

// removes matches names that mean rm only in PowerShell.
var removes = lazyregexp.New(`(?i)\brmdir\b`)

// runs reports whether an input may run the command of the rule.
func (g Gate) runs(in *input) bool {
	p, err := compileWordPattern(strings.TrimSuffix(strings.TrimSpace(g.Rule), ":*"))
	if err != nil || p.re != nil || p.split != nil || len(in.lines) == 0 {
		return true
	}
	p.target.rest = true
	other := otherShell(in.Tool) != ""
	unknown := func(l leaf) bool { // the value is a variable, or input of the command
		text, isText := l.value.(string)
		other = other || l.name.top() == "shell" && !bash[path.Base(text)]
		return isText && !l.harmless()
	}
	inner := func(f file) bool { return f.name.top() == "" }
	return slices.ContainsFunc(in.leaves, unknown) || slices.ContainsFunc(in.files, inner) || slices.ContainsFunc(in.lines, func(l *line) bool {
		return other && (!anyShell.MatchString(l.raw) || removes.MatchString(l.raw)) || p.target.mayRun(l.raw, in.Where)
	})
}
