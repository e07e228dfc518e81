package setup

import (
	"regexp"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Gate selects tool calls of Claude Code that always need a person.
type Gate struct {
	Matcher string // tool names, as an exact name, a list or a regular expression
	If      string // permission rule that limits the calls; empty means all
}

// ruled is a tool with a rule for its calls, such as Bash(git push *).
var ruled = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*)\((.+)\)$`)

// ParseGates parses gates that are separated by |. Each is a tool with a rule,
// such as Bash(git push *), or an expression for tool names, such as
// mcp__prod__.*. It returns CodeInvalid for anything else. The result is not
// nil, and is empty for an empty text.
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
			out = append(out, Gate{Matcher: m[1], If: part})
			continue
		}
		if part == "" {
			return nil, bridge.Errorf(bridge.CodeInvalid, "--gate: empty part in %q", text)
		}
		if part == "*" {
			out = append(out, Gate{Matcher: part})
			continue
		}
		if _, err := regexp.Compile(part); err != nil || strings.ContainsAny(part, " \t") {
			return nil, bridge.Errorf(bridge.CodeInvalid, "--gate: %q is neither a tool name nor a rule", part).
				WithHint("use a tool with a rule, such as Bash(git push *), or a name, such as Write or mcp__prod__.*")
		}
		out = append(out, Gate{Matcher: part})
	}
	return out, nil
}

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
