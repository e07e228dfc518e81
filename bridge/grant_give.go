package bridge

import (
	"slices"
)

// givesGrant reports whether an approval of an interaction with a scope can give
// a grant.
func givesGrant(i Interaction, s Scope) bool {
	a := i.Approval
	return a != nil && !a.AgentRemembers && i.GrantKey != "" && slices.Contains(a.Scopes, s)
}

// Given returns the grants that the approval of a record creates.
func (r Record) Given() []Grant {
	i := r.Interaction
	if r.State != StateApproved || r.Response == nil || r.Response.Actor == nil || r.Response.Grant != "" || !givesGrant(i, r.Response.Scope) {
		return nil
	}
	at := r.Response.At.UTC()
	g := Grant{
		Agent: i.Agent, Key: i.GrantKey, Actor: *r.Response.Actor, Origin: i.ID, Tool: i.Approval.Tool, Where: i.Approval.Where,
		Route: i.Route, Quorum: i.Needs(), At: at, Routes: i.GrantRoutes, Confirm: i.Approval.Confirm, Risk: i.Risk,
		Assurance: r.Response.Assurance,
	}
	longest := AlwaysGrantTTL
	switch {
	case r.Response.Scope == ScopeSession && i.Session != "":
		g.Session, longest = i.Session, SessionGrantTTL
	case r.Response.Scope != ScopeAlways:
		return nil
	}
	g.Expires = at.Add(Ruling{GrantFor: i.GrantFor}.grantTTL(longest))
	for _, v := range r.Votes {
		if v.State == StateApproved {
			g.Givers = append(g.Givers, v.Actor)
		}
	}
	if len(g.Givers) == 0 {
		g.Givers = []Actor{g.Actor}
	}
	covers := i.Coverage(r.Response.Scope)
	if len(i.RuleGrants) == 0 {
		g.Covers = covers[0]
		return []Grant{g}
	}
	var out []Grant
	for n, rule := range i.RuleGrants {
		g.Key, g.Rule, g.Covers = i.RuleKey(rule), rule.Rule, covers[n]
		out = append(out, g)
	}
	return out
}
