package main

import (
	"errors"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
)

// buildPolicy checks the rules; nil where there are none.
func buildPolicy(c config.Config) (*policy.Policy, error) {
	var risks []policy.Risk
	for _, r := range c.Risks {
		risks = append(risks, policy.Risk{Name: r.Name, Quorum: r.Quorum, Confirm: r.Confirm})
	}
	var rules []policy.Rule
	for _, r := range c.Policy {
		rule := policy.Rule{
			Name: r.Name, Agents: r.Agents, Tools: r.Tools, Command: r.Command, Path: r.Path, Input: r.Input, Where: r.Where,
			Then: bridge.Effect(r.Then), GrantByRule: r.Grant == "rule",
			Set: bridge.Ruling{
				Reason: r.Reason, Route: r.Route, Risk: r.Risk, Timeout: bridge.Duration(r.Timeout), OnTimeout: bridge.OnTimeout(r.OnTimeout), Quorum: r.Quorum,
				Confirm: r.Confirm, Redact: r.Redact, GrantFor: bridge.Duration(r.GrantFor),
			},
		}
		for _, s := range r.Scopes {
			rule.Set.Scopes = append(rule.Set.Scopes, bridge.Scope(s))
		}
		rules = append(rules, rule)
	}
	p, errs := policy.New(rules, risks)
	if len(errs) > 0 {
		return nil, bridge.Wrap(bridge.CodeInvalid, errors.Join(errs...), "config")
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return p, nil
}
