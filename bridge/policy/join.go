package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

var severity = []bridge.Effect{bridge.EffectAllow, bridge.EffectAsk, bridge.EffectDeny}

// join returns one ruling that satisfies the rulings of all parts.
func (p *Policy) join(hits []hit, moved bool) bridge.Ruling {
	if len(hits) == 0 {
		hits = []hit{{}} // no part was understood
	}
	worst := 0
	for _, h := range hits {
		worst = max(worst, slices.Index(severity, h.effect()))
	}
	out := bridge.Ruling{Effect: severity[worst]}
	hits = slices.DeleteFunc(slices.Clone(hits), func(h hit) bool { return h.effect() != out.Effect })
	var names, reasons []string
	for _, h := range hits {
		r := p.rulingOf(h)
		names, reasons = add(names, r.Rule), add(reasons, r.Reason)
	}
	out.Rule, out.Reason = strings.Join(names, ", "), strings.Join(reasons, ", ")
	if out.Effect == bridge.EffectAsk {
		p.joinAsks(&out, hits, moved)
	}
	return out
}

// joinAsks changes a ruling so that it satisfies the rulings of all parts, each
// of which asks people.
func (p *Policy) joinAsks(out *bridge.Ruling, hits []hit, moved bool) {
	var confirms, routes []string
	granted := !moved
	for _, h := range hits {
		r := p.rulingOf(h)
		if len(r.Routes) == 0 {
			r.Routes = []string{""} // the route of the request
		}
		for _, route := range r.Routes {
			routes = addTo(routes, route)
		}
		confirms = add(confirms, r.Confirm)
		granted = granted && h.covered && h.rule.grantsByRule()
		p.tighten(out, r)
		for _, g := range r.Grants {
			if !slices.Contains(out.Grants, g) {
				out.Grants = append(out.Grants, g)
			}
		}
	}
	if !granted {
		out.Grants = nil
	}
	if slices.ContainsFunc(routes, func(route string) bool { return route != "" }) {
		out.Routes = routes
	}
	out.Confirm = strings.Join(confirms, " ")
}

// rulingOf returns the ruling of a part. It is empty if no rule matches.
func (p *Policy) rulingOf(h hit) bridge.Ruling {
	switch {
	case h.rule == nil:
		return bridge.Ruling{}
	case h.effect() != h.rule.Then:
		return bridge.Ruling{Effect: h.effect(), Rule: h.rule.Name, Reason: h.rule.Reason}
	}
	return p.ruling(*h.rule)
}

func (h hit) effect() bridge.Effect {
	if h.rule == nil || h.doubt {
		return bridge.EffectAsk
	}
	return h.rule.Then
}

// ruling returns the ruling of a rule, with the settings of its risk level.
func (p *Policy) ruling(c compiled) bridge.Ruling {
	r := c.settings()
	r.Effect, r.Rule = c.Then, c.Name
	if n := p.rank(r.Risk); n >= 0 {
		r.Quorum = max(r.Quorum, p.risks[n].Quorum)
		if r.Confirm == "" {
			r.Confirm = p.risks[n].Confirm
		}
		r.StepUp = cmp.Or(r.StepUp, p.risks[n].StepUp)
	}
	if c.grantsByRule() {
		r.Grants = []bridge.RuleGrant{{Key: c.key, Rule: c.Name, Covers: c.words()}}
	}
	return r
}

// timeouts are the values of on_timeout, strictest first.
var timeouts = []bridge.OnTimeout{bridge.OnTimeoutDeny, bridge.OnTimeoutExpire, bridge.OnTimeoutEscalate}

// tighten changes a ruling so that it also satisfies another one.
func (p *Policy) tighten(out *bridge.Ruling, r bridge.Ruling) {
	if p.rank(r.Risk) > p.rank(out.Risk) {
		out.Risk = r.Risk
	}
	out.Quorum = max(out.Quorum, r.Quorum)
	out.StepUp = cmp.Or(out.StepUp, r.StepUp)
	out.Timeout = shorter(out.Timeout, r.Timeout)
	out.GrantFor = shorter(out.GrantFor, r.GrantFor)
	n, now := slices.Index(timeouts, r.OnTimeout), slices.Index(timeouts, out.OnTimeout)
	if n >= 0 && (now < 0 || n < now) {
		out.OnTimeout = r.OnTimeout
	}
	for _, field := range r.Redact {
		out.Redact = addTo(out.Redact, field)
	}
	switch {
	case len(r.Scopes) == 0:
	case out.Scopes == nil:
		out.Scopes = slices.Clone(r.Scopes)
	default:
		out.Scopes = slices.DeleteFunc(out.Scopes, func(s bridge.Scope) bool { return !slices.Contains(r.Scopes, s) })
	}
	if out.Scopes != nil && !slices.Contains(out.Scopes, bridge.ScopeOnce) {
		out.Scopes = append([]bridge.Scope{bridge.ScopeOnce}, out.Scopes...)
	}
}

// shorter returns the smaller of two durations. Zero means no duration.
func shorter(a, b bridge.Duration) bridge.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func add(list []string, s string) []string {
	if s == "" {
		return list
	}
	return addTo(list, s)
}

func addTo(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
