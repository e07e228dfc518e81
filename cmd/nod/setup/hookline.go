package setup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// hookLine is the command line of a hook that runs nod.
type hookLine struct {
	// before is the text in front of the program in its command, such as
	// "NOD_URL=http://127.0.0.1:8787 ".
	before  string
	program string
}

// parseHookLine finds the call of nod hook in the command line of an agent's
// hook. It returns false if there is none.
func parseHookLine(command, agent string) (hookLine, bool) {
	var out hookLine
	found := false
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return out, false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || found {
			return !found
		}
		words := literals(call)
		for k := 1; k+1 < len(words); k++ {
			if words[k] == "hook" && words[k+1] == agent && isProgram(words[k-1]) {
				found = true
				out = hookLine{command[call.Pos().Offset():call.Args[k-1].Pos().Offset()], words[k-1]}
			}
		}
		return !found
	})
	return out, found
}

// commandLines returns the words that follow nod in every command line of a
// settings file, which is decoded JSON: a line for a shell, or a program with its
// arguments.
func commandLines(v any) [][]string {
	var out [][]string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, commandLines(x)...)
		}
	case map[string]any:
		raw, _ := json.Marshal(v) // was decoded from JSON
		var p process
		if decode(raw, &p) == nil && len(p.words()) > 1 && isProgram(p.words()[0]) {
			return [][]string{p.words()[1:]}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, commandLines(v[name])...)
		}
	case string:
		file, err := syntax.NewParser().Parse(strings.NewReader(v), "")
		if err != nil {
			return nil
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				words := literals(call)
				if k := slices.IndexFunc(words, isProgram); k >= 0 && k+1 < len(words) {
					out = append(out, words[k+1:])
				}
			}
			return true
		})
	}
	return out
}

// literals returns the words of a command without their quotes. A word whose
// value depends on another command is empty.
func literals(call *syntax.CallExpr) []string {
	words := make([]string, len(call.Args))
	config := &expand.Config{} // expand.Literal writes to it; nil means one that all callers share
	for n, arg := range call.Args {
		words[n], _ = expand.Literal(config, arg) // empty after an error
	}
	return words
}

// beforeProgram returns the text in front of the program in nod's hooks, such as
// an environment that a user added. It is empty if none has any.
func beforeProgram(hooks map[string][]json.RawMessage, agent string) string {
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		for _, raw := range hooks[event] {
			var e hookEntry
			if ours, _ := isOurs(raw, agent); !ours || decode(raw, &e) != nil {
				continue
			}
			if line, _ := parseHookLine(e.Hooks[0].Command, agent); line.before != "" {
				return line.before
			}
		}
	}
	return ""
}
