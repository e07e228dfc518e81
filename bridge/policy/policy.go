// Package policy evaluates what agents want to do, with ordered rules that
// allow it, deny it, or ask people. The first rule that matches a part decides
// on that part, and the rulings of all parts are joined. An allow rule applies
// only to what the package fully understands, such as a plain shell line. Ask
// and deny rules apply to everything that may match.
package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Rule is one rule. All of its conditions must hold. A condition with several
// patterns holds if one of them matches. Patterns are globs, in which * matches
// any text and ? any character, or regular expressions (RE2) between slashes
// that must match the complete text.
type Rule struct {
	Name   string   `json:"name"`
	Agents []string `json:"agents,omitempty"`
	Tools  []string `json:"tools,omitempty"`
	// Command is matched against the words of each command of a shell line.
	Command []string `json:"command,omitempty"`
	// Options lists the options (words that start with -) that an allow rule,
	// or a grant by the rule, covers when a wildcard in Command matches them.
	// Nil means any option.
	Options []string `json:"options"`
	// Reads is ReadsProject if an allow rule covers only commands that read, and
	// only files of the project.
	Reads string `json:"reads,omitempty"`
	// Path is matched against every file in the input.
	Path []string `json:"path,omitempty"`
	// Input maps fields, such as "env.name", to patterns. Items of lists are
	// matched as well.
	Input map[string]string `json:"input,omitempty"`
	Where []string          `json:"where,omitempty"`

	Then bridge.Effect `json:"then"`
	Set  bridge.Ruling `json:"set"` // settings of an ask rule
	// GrantByRule means that a grant covers everything that the rule matches in
	// the same location, instead of one exact request.
	GrantByRule bool `json:"grant_by_rule,omitempty"`
}

// ReadsProject means that a command only reads: it starts nothing, writes nothing
// and sends nothing, and its files are below the location of the request.
const ReadsProject = "project"

// Risk is a named risk level. Lists of risk levels are ordered from lowest to
// highest.
type Risk struct {
	Name    string `json:"name"`
	Quorum  int    `json:"quorum,omitempty"`
	Confirm string `json:"confirm,omitempty"`
	// StepUp is the proof that approvals require at this level. It is empty if
	// a click is enough.
	StepUp bridge.Assurance `json:"step_up,omitempty"`
}

// Step is the result of one rule for one part of an action.
type Step struct {
	// Command is the part if it is a command or a line of commands.
	Command string `json:"command,omitempty"`
	// Reading is the way in which the part was read.
	Reading string `json:"reading,omitempty"`
	Rule    string `json:"rule"`
	Matched bool   `json:"matched"`
	Why     string `json:"why"`
}

// Policy is a checked set of rules. It is safe for concurrent use.
type Policy struct {
	rules []compiled
	risks []Risk
}

var _ bridge.Policy = (*Policy)(nil)

type compiled struct {
	Rule
	nth                 int
	agents, path, where patterns
	tools, anyTools     patterns
	command, options    []wordPattern
	anyPath, anyWhere   patterns
	input               []field
	key                 string // key of a grant by the rule
}

type field struct {
	name    string
	names   []string // name split at dots
	pattern patterns
	anyCase patterns
}

// New returns the policy with the given rules and risk levels. The errors name
// every invalid rule.
func New(rules []Rule, risks []Risk) (*Policy, []error) {
	p := &Policy{risks: risks}
	var errs []error
	names := map[string]bool{}
	for n, r := range rules {
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("policy[%d]: "+format, append([]any{n}, args...)...))
		}
		if r.Name == "" {
			r.Name = "rule " + strconv.Itoa(n+1)
		}
		if names[r.Name] {
			bad("name: duplicate name %q", r.Name)
		}
		names[r.Name] = true
		c := compiled{Rule: r, nth: n}
		c.compile(bad)
		p.checkEffect(c, bad)
		c.checkOptions(bad)
		c.checkReads(bad)
		c.checkAllow(bad)
		c.key = p.key(c)
		p.rules = append(p.rules, c)
	}
	return p, append(errs, p.unreachable()...)
}

// compile compiles the patterns of a rule.
func (c *compiled) compile(bad func(string, ...any)) {
	for _, set := range []struct {
		name string
		from []string
		to   *patterns
		fold bool
	}{
		{"agents", c.Agents, &c.agents, false}, {"tools", c.Tools, &c.tools, false}, {"", c.Tools, &c.anyTools, true},
		{"path", c.Path, &c.path, false}, {"", c.Path, &c.anyPath, true},
		{"where", c.Where, &c.where, false}, {"", c.Where, &c.anyWhere, true},
	} {
		var err error
		if *set.to, err = compile(set.from, set.fold); err != nil && set.name != "" {
			bad("%s: %v", set.name, err)
		}
	}
	var err error
	if c.command, err = compileWords(c.Command); err != nil {
		bad("command: %v", err)
	}
	if c.options, err = compileWords(c.Options); err != nil {
		bad("options: %v", err)
	}
	for _, name := range sortedKeys(c.Input) {
		pattern, err := compile([]string{c.Input[name]}, false)
		if err != nil {
			bad("input.%s: %v", name, err)
			continue
		}
		anyCase, _ := compile([]string{c.Input[name]}, true) // it has compiled with case sensitivity before
		c.input = append(c.input, field{name, strings.Split(name, "."), pattern, anyCase})
	}
}

// passes reports whether a rule allows, or grants may cover what it matches.
func (c compiled) passes() bool { return c.Then == bridge.EffectAllow || c.GrantByRule }

// checkOptions checks the options that a rule lists.
func (c compiled) checkOptions(bad func(string, ...any)) {
	if c.Options != nil && (len(c.Command) == 0 || !c.passes()) {
		bad("options: requires command, and then: allow or grant: rule")
	}
	for n, o := range c.options {
		if o.re == nil && (len(o.words) != 1 || o.split != nil) {
			bad("options: %q is not a single word", c.Options[n])
		}
	}
}

// checkReads checks the condition that a command only reads.
func (c compiled) checkReads(bad func(string, ...any)) {
	switch {
	case c.Reads != "" && c.Reads != ReadsProject:
		bad("reads: unknown value %q (project)", c.Reads)
	case c.Reads != "" && (c.Then != bridge.EffectAllow || c.Options != nil):
		bad("reads: requires then: allow, and no options")
	}
}

// checkAllow checks the command of a rule that passes.
func (c compiled) checkAllow(bad func(string, ...any)) {
	if !c.passes() {
		return
	}
	for n, p := range c.command {
		switch {
		case p.split != nil:
			bad("command: %q: %v", c.Command[n], p.split)
		case p.open():
			bad("command: %q would match any program; start with the name of the program", c.Command[n])
		}
	}
	if c.Then == bridge.EffectAllow && len(c.Tools)+len(c.Command)+len(c.Path)+len(c.Input) == 0 && c.Reads == "" {
		bad("then: allow requires tools, command, reads, path or input")
	}
}

// key returns a hash of a rule with all its settings and those of its risk
// level.
func (p *Policy) key(c compiled) string {
	risk := Risk{}
	if n := p.rank(c.Set.Risk); n >= 0 {
		risk = p.risks[n]
	}
	raw, err := json.Marshal(struct {
		Rule Rule `json:"rule"`
		Risk Risk `json:"risk"`
	}{c.Rule, risk})
	if err != nil {
		panic(err) // strings, numbers and maps of them always encode
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// checkEffect checks the effect of a rule and its settings.
func (p *Policy) checkEffect(c compiled, bad func(string, ...any)) {
	switch c.Then {
	case bridge.EffectAllow, bridge.EffectDeny:
		if !reflect.DeepEqual(c.Set, bridge.Ruling{Reason: c.Set.Reason}) || c.GrantByRule {
			bad("then: %s asks no one, so only reason is allowed with it", c.Then)
		}
	case bridge.EffectAsk:
		if c.Set.Risk != "" && p.rank(c.Set.Risk) < 0 {
			bad("risk: unknown risk level %q", c.Set.Risk)
		}
		for _, s := range c.Set.Scopes {
			if s != bridge.ScopeOnce && s != bridge.ScopeSession && s != bridge.ScopeAlways {
				bad("scopes: unknown scope %q (once, session or always)", s)
			}
		}
		if o := c.Set.OnTimeout; o != "" && !slices.Contains(timeouts, o) {
			bad("on_timeout: unknown value %q (expire, deny or escalate)", o)
		}
	default:
		bad("then: unknown effect %q (allow, ask or deny)", c.Then)
	}
}

// unreachable returns an error for rules after one that matches everything.
func (p *Policy) unreachable() []error {
	for n, c := range p.rules {
		conditions := len(c.Agents) + len(c.Tools) + len(c.Command) + len(c.Path) + len(c.Input) + len(c.Where)
		if n+1 < len(p.rules) && c.Then != bridge.EffectAllow && conditions == 0 {
			return []error{fmt.Errorf("policy[%d]: %q matches everything, so later rules are never reached", n, c.Name)}
		}
	}
	return nil
}

// rank returns the index of a risk level, or -1 if it is unknown.
func (p *Policy) rank(risk string) int {
	return slices.IndexFunc(p.risks, func(r Risk) bool { return r.Name == risk })
}
