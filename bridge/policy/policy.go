// Package policy evaluates the operations of agents with ordered rules that
// allow them, deny them, or ask people. The first rule that matches a part
// decides on that part. The rulings of all parts are then joined. An allow rule
// applies only to an operation that the package fully understands, such as a
// plain shell line. Ask and deny rules apply to every operation that may match.
// The package is a pure function: package engine applies a ruling and stores it
// with the request. Start with [Policy.Judge].
package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

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
	nth              int
	origin, content  []bound // conditions on the caller and the tool, and on the input
	command, options []wordPattern
	key              string // key of a grant by the rule
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
	for _, row := range c.conditions() {
		b, err := row.bind(c.Rule)
		switch {
		case err != nil:
			bad("%s: %v", row.key, err)
		case row.of == ofInput:
			c.content = append(c.content, b)
		default:
			c.origin = append(c.origin, b)
		}
	}
	var err error
	if c.command, err = compileWords(c.Command); err != nil {
		bad("command: %v", err)
	}
	if c.options, err = compileWords(c.Options); err != nil {
		bad("options: %v", err)
	}
}

// passes reports whether a rule allows operations, or permits grants for them.
func (c compiled) passes() bool { return c.Then == bridge.EffectAllow || c.grantsByRule() }

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

// checkAllow checks the command of a rule that allows operations or permits
// grants.
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
	byTool := slices.ContainsFunc(c.origin, func(b bound) bool { return b.of == ofTool })
	if c.Then == bridge.EffectAllow && !byTool && !c.conditional() {
		bad("then: allow requires tools, command, reads, path or input")
	}
}

// key returns a hash of a rule and its risk level. Conditions and settings that
// a later version of nod adds do not change the key while they are unset, so
// they do not end grants.
func (p *Policy) key(c compiled) string {
	risk := Risk{}
	if n := p.rank(c.Risk); n >= 0 {
		risk = p.risks[n]
	}
	raw, err := json.Marshal([]map[string]any{settled(c.Rule), settled(risk)})
	if err != nil {
		panic(err) // encoding strings, numbers and maps of them never fails
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// settled returns the nonzero fields of a struct by their keys in the config.
func settled(x any) map[string]any {
	out, v := map[string]any{}, reflect.ValueOf(x)
	for n := range v.NumField() {
		if !v.Field(n).IsZero() {
			out[v.Type().Field(n).Tag.Get("yaml")] = v.Field(n).Interface()
		}
	}
	return out
}

// checkEffect checks the effect of a rule and its settings.
func (p *Policy) checkEffect(c compiled, bad func(string, ...any)) {
	switch c.Then {
	case bridge.EffectAllow, bridge.EffectDeny:
		if !reflect.DeepEqual(c.settings(), bridge.Ruling{Reason: c.Reason}) || c.grantsByRule() {
			bad("then: %s asks no one, so only reason is allowed with it", c.Then)
		}
	case bridge.EffectAsk:
		if c.Risk != "" && p.rank(c.Risk) < 0 {
			bad("risk: unknown risk level %q", c.Risk)
		}
		for _, s := range c.Scopes {
			if s != bridge.ScopeOnce && s != bridge.ScopeSession && s != bridge.ScopeAlways {
				bad("scopes: unknown scope %q (once, session or always)", s)
			}
		}
		if o := c.OnTimeout; o != "" && !slices.Contains(timeouts, o) {
			bad("on_timeout: unknown value %q (expire, deny or escalate)", o)
		}
	default:
		bad("then: unknown effect %q (allow, ask or deny)", c.Then)
	}
}

// unreachable returns an error for rules after one that matches everything.
func (p *Policy) unreachable() []error {
	for n, c := range p.rules {
		if n+1 < len(p.rules) && c.Then != bridge.EffectAllow && len(c.origin)+len(c.content)+len(c.command) == 0 {
			return []error{fmt.Errorf("policy[%d]: %q matches everything, so later rules are never reached", n, c.Name)}
		}
	}
	return nil
}

// rank returns the index of a risk level, or -1 if it is unknown.
func (p *Policy) rank(risk string) int {
	return slices.IndexFunc(p.risks, func(r Risk) bool { return r.Name == risk })
}
