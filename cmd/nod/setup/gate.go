package setup

import (
	"encoding/json"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/render"
)

// gateEntries returns the hooks of gates, one for each set of tools. Their
// commands contain only the flag, which follows the command of a hook. A gate
// for all calls of its tools has no flag, and replaces gates with rules for the
// same tools.
func gateEntries(gates []policy.Gate) []hookEntry {
	var out []hookEntry
	for n, g := range gates {
		tools := g.Family()
		same := slices.DeleteFunc(slices.Clone(gates), func(o policy.Gate) bool { return o.Family() != tools })
		if slices.Index(same, g) > 0 || slices.Index(gates, g) < n {
			continue
		}
		h := hookHandler{Type: "command", Timeout: hookTime, OnFailure: "block"}
		if !slices.ContainsFunc(same, func(o policy.Gate) bool { return o.Rule == "" }) {
			h.Command = gateFlag(same)
		}
		out = append(out, hookEntry{tools, []hookHandler{h}})
	}
	return out
}

// gateFlag returns the flag with the gates, for the end of a command line.
func gateFlag(gates []policy.Gate) string {
	var all []string
	for _, g := range gates {
		all = append(all, g.String())
	}
	return " --gate " + render.ShellQuote(strings.Join(all, "|"))
}

// isOldGate reports whether an entry is a gate from an earlier version of nod,
// in which Claude Code evaluates the rule. Such a gate does not stop other
// spellings of a command.
func isOldGate(raw json.RawMessage) bool {
	var e hookEntry
	ours, gate := isOurs(raw, "claude")
	return ours && gate && decode(raw, &e) == nil && e.Hooks[0].If != ""
}

// currentGates returns the gates of earlier versions in the current form.
func currentGates(was []json.RawMessage) []hookEntry {
	var out []hookEntry
	for _, raw := range was {
		var e hookEntry
		if !isOldGate(raw) || decode(raw, &e) != nil {
			continue
		}
		h := &e.Hooks[0]
		if gates, err := policy.ParseGates(h.If); err == nil && len(gates) == 1 {
			if e.Matcher = gates[0].Family(); gates[0].Rule != "" {
				h.Command += gateFlag(gates)
			}
		}
		h.If = "" // without the rule, nod asks people about more calls
		out = append(out, e)
	}
	return out
}

// gatesOf returns the gates in the command line of a hook, or "".
func gatesOf(command string) string {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return ""
	}
	out := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			words := literals(call)
			for n, w := range words {
				if value, ok := strings.CutPrefix(w, "--gate="); ok {
					out = value
				} else if w == "--gate" && n+1 < len(words) {
					out = words[n+1]
				}
			}
		}
		return true
	})
	return out
}
