// Package policy judges what agents want to do by ordered rules: allowed,
// denied, or asked about, and how. The first rule that matches decides. A
// shell line is judged command by command, and the strictest ruling counts;
// what a shell could hide is never allowed without asking.
package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// Rule is one rule. Every condition that is set has to hold; one with several
// patterns holds if one of them does. Patterns are globs, in which * is any
// text and ? any character, or regular expressions (RE2) between slashes that
// have to match the whole.
type Rule struct {
	Name   string
	Agents []string
	Tools  []string
	// Command is matched against each command of a shell line.
	Command []string
	// Path is matched against the file that the input names.
	Path []string
	// Input patterns by field, as in "env.name"; lists are looked into.
	Input map[string]string
	Where []string

	Then bridge.Effect
	Set  bridge.Ruling // what an ask changes
	// GrantByRule makes a standing yes cover all that the rule matches in the
	// same place, and not this input alone.
	GrantByRule bool
}

// Risk is a named level; in a list of them, the worst is last.
type Risk struct {
	Name    string
	Quorum  int
	Confirm string
}

// Step says what became of one rule, for one command of the input.
type Step struct {
	Command string `json:"command,omitempty"`
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
	agents, tools, command, path, where patterns
	input                               []field
}

type field struct {
	name    string
	pattern patterns
}

// New checks a set of rules. Its error names every rule that is wrong.
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
			bad("name: %q is there twice", r.Name)
		}
		names[r.Name] = true
		c := compiled{Rule: r}
		for _, set := range []struct {
			name string
			from []string
			to   *patterns
		}{{"agents", r.Agents, &c.agents}, {"tools", r.Tools, &c.tools}, {"command", r.Command, &c.command}, {"path", r.Path, &c.path}, {"where", r.Where, &c.where}} {
			var err error
			if *set.to, err = compile(set.from); err != nil {
				bad("%s: %v", set.name, err)
			}
		}
		for _, name := range sortedKeys(r.Input) {
			pattern, err := compile([]string{r.Input[name]})
			if err != nil {
				bad("input.%s: %v", name, err)
			}
			c.input = append(c.input, field{name, pattern})
		}
		p.checkEffect(c, bad)
		p.rules = append(p.rules, c)
	}
	return p, append(errs, p.unreachable()...)
}

// checkEffect checks what a rule does.
func (p *Policy) checkEffect(c compiled, bad func(string, ...any)) {
	switch c.Then {
	case bridge.EffectAllow, bridge.EffectDeny:
		s := c.Set
		if len(s.Routes) > 0 || s.Risk != "" || len(s.Scopes) > 0 || s.Timeout != 0 || s.OnTimeout != "" || s.Quorum != 0 || s.Confirm != "" || len(s.Redact) > 0 || s.GrantFor != 0 || c.GrantByRule {
			bad("then: %s asks nobody, so only a reason goes with it", c.Then)
		}
	case bridge.EffectAsk:
		if c.Set.Risk != "" && p.rank(c.Set.Risk) < 0 {
			bad("risk: there is no %q among the risks", c.Set.Risk)
		}
		for _, s := range c.Set.Scopes {
			if s != bridge.ScopeOnce && s != bridge.ScopeSession && s != bridge.ScopeAlways {
				bad("scopes: unknown %q; use once, session, always", s)
			}
		}
		if o := c.Set.OnTimeout; o != "" && o != bridge.OnTimeoutExpire && o != bridge.OnTimeoutDeny && o != bridge.OnTimeoutEscalate {
			bad("on_timeout: %q is not expire, deny or escalate", o)
		}
	default:
		bad("then: %q is not allow, ask or deny", c.Then)
	}
}

// unreachable finds rules behind one that matches everything.
func (p *Policy) unreachable() []error {
	for n, c := range p.rules {
		if n+1 < len(p.rules) && c.Then != bridge.EffectAllow && len(c.Agents)+len(c.Tools)+len(c.Command)+len(c.Path)+len(c.Input)+len(c.Where) == 0 {
			return []error{fmt.Errorf("policy[%d]: no rule after %q is ever reached, as it matches everything", n, c.Name)}
		}
	}
	return nil
}

// rank is the place of a risk among the levels; -1 for none.
func (p *Policy) rank(risk string) int {
	return slices.IndexFunc(p.risks, func(r Risk) bool { return r.Name == risk })
}

// Judge implements bridge.Policy.
func (p *Policy) Judge(a bridge.Act) bridge.Ruling {
	r, _ := p.Explain(a)
	return r
}

// Explain is Judge, and says what became of each rule.
func (p *Policy) Explain(a bridge.Act) (bridge.Ruling, []Step) {
	in := read(a)
	var out *bridge.Ruling
	var steps []Step
	for _, command := range in.commands {
		r, s := p.first(in, command)
		steps = append(steps, s...)
		if out == nil || p.stricter(r, *out) {
			out = &r
		}
	}
	if out.Effect == bridge.EffectAllow && in.opaque != "" {
		steps = append(steps, Step{Rule: out.Rule, Matched: true, Why: "allows, but " + in.opaque + ", so people are asked"})
		*out = bridge.Ruling{Effect: bridge.EffectAsk}
	}
	return *out, steps
}

// first is the ruling of the first rule that matches.
func (p *Policy) first(in input, command string) (bridge.Ruling, []Step) {
	var steps []Step
	for _, c := range p.rules {
		why, ok := c.matches(in, command)
		steps = append(steps, Step{Command: command, Rule: c.Name, Matched: ok, Why: why})
		if ok {
			return p.ruling(c, in), steps
		}
	}
	return bridge.Ruling{Effect: bridge.EffectAsk}, append(steps, Step{Command: command, Rule: "", Matched: true, Why: "no rule matches, so people are asked"})
}

func (p *Policy) ruling(c compiled, in input) bridge.Ruling {
	r := c.Set
	r.Effect, r.Rule = c.Then, c.Name
	if n := p.rank(r.Risk); n >= 0 {
		r.Quorum = max(r.Quorum, p.risks[n].Quorum)
		if r.Confirm == "" {
			r.Confirm = p.risks[n].Confirm
		}
	}
	if c.GrantByRule {
		covers := c.words()
		r.Grants = []bridge.RuleGrant{{Key: "rule:" + c.Name + ": " + covers, Rule: c.Name, Covers: covers}}
	}
	return r
}

var severity = []bridge.Effect{bridge.EffectAllow, bridge.EffectAsk, bridge.EffectDeny}

// stricter reports whether a is stricter than b: by effect, by risk, by how
// many people it takes, by what has to be typed, by what may not be granted.
func (p *Policy) stricter(a, b bridge.Ruling) bool {
	for _, d := range []int{
		slices.Index(severity, a.Effect) - slices.Index(severity, b.Effect), p.rank(a.Risk) - p.rank(b.Risk), a.Quorum - b.Quorum,
		len(a.Confirm) - len(b.Confirm), len(b.Grants) - len(a.Grants),
	} {
		if d != 0 {
			return d > 0
		}
	}
	return a.Rule == "" && b.Rule != "" && len(b.Grants) > 0 // nobody wrote that this may be granted
}
