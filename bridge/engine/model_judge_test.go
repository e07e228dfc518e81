package engine_test

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// judge compares the outcome of a request with the model, once for each
// decision.
func (m *play) judge(a *asking, byGrant bool) {
	rec := m.read(a)
	if rec.Unverified == "" && rec.Interaction.Terms != a.terms { // the card states the current requirements
		a.rules, a.setup, a.as, a.terms = m.rules, m.setup, m.reloads, rec.Interaction.Terms
	}
	if rec.State != bridge.StateApproved || a.seen[rec.Receipt] || byGrant != (rec.Response.Grant != "") {
		m.counts["refusals"] += len(a.acts)
		return
	}
	first := len(a.seen) == 0
	a.seen[rec.Receipt] = true
	resp, n := rec.Response, m.rules.need(a.line)
	input := a.input()
	if len(resp.Input) > 0 {
		input = string(resp.Input)
		n = m.rules.need(lineOf(input))
	}
	switch {
	case resp.Grant != "":
		m.covered(a, rec, first)
		return
	case resp.Actor == nil:
		if !first || n.effect != bridge.EffectAllow {
			m.rt.Fatalf("approved by no one: %+v", resp)
		}
		m.counts["by policy"]++
		return
	}
	by := []bridge.Actor{*resp.Actor}
	if len(rec.Votes) > 0 {
		by = nil
		for _, v := range rec.Votes {
			if v.State == bridge.StateApproved {
				by = append(by, v.Actor)
			}
		}
	}
	var acts []act
	for _, actor := range by {
		acts = append(acts, m.actOf(a, actor, n, input, resp.Scope))
	}
	if why := allowed(m.setup, n, a.agent, a.requester, input, acts); why != "" {
		m.rt.Fatalf("approved although %s\ninput %s\nby %+v\nrules %+v\nroutes %+v\nrecord %+v", why, input,
			acts, m.rules, m.setup.routes, rec.Interaction)
	}
	m.counts["by people"]++
	m.give(a, resp.Scope, acts)
	if rec.Interaction.Round == 1 { // a follow-up may inherit that its agent remembers
		m.again(a, resp.Scope)
	}
}

// again checks that the same request is not asked about again right after people
// gave a standing approval, under the rules that its card states.
func (m *play) again(a *asking, scope bridge.Scope) {
	n := m.rules.need(a.line)
	if scope == bridge.ScopeOnce || n.effect != bridge.EffectAsk || a.remembers || a.as != m.reloads || n.once || n.lasts > 0 || len(m.stored) > 0 {
		return
	}
	rec, err := m.engine.Open(m.t.Context(), m.setup.agents[a.agent], a.request(), "")
	if err != nil {
		m.rt.Fatal(err)
	}
	if rec.State != bridge.StateApproved || rec.Response.Grant == "" {
		m.rt.Fatalf("%+v is asked about again: %s\ngrants %+v\nrules %+v\nroutes %+v", a.wish, rec.State, m.grants, m.rules, m.setup.routes)
	}
	m.counts["not asked again"]++
	m.opened(rec, a.wish)
}

// covered checks an approval by grants. A request that was asked about has to
// be covered under what its card states as well.
func (m *play) covered(a *asking, rec bridge.Record, first bool) {
	why := m.uncovered(a.wish, m.setup, m.rules)
	then := a.setup
	then.people = m.setup.people
	if why == "" && len(rec.Messages) > 0 {
		why = m.uncovered(a.wish, then, a.rules)
	}
	if why != "" {
		m.rt.Fatalf("a grant approves %+v although %s\ngrants %+v\nrules %+v\nroutes %+v", a.wish, why, m.grants, m.rules, m.setup.routes)
	}
	if len(rec.Messages) > 0 {
		m.counts["releases"]++
	}
	if strings.Contains(rec.Response.Covers[0], "the rule") {
		m.counts["by a rule"]++
	} else {
		m.counts["by an exact grant"]++
	}
}

// actOf returns the approval that an actor gave, the one that fits best.
func (m *play) actOf(a *asking, actor bridge.Actor, n need, input string, scope bridge.Scope) act {
	found := -1
	for k, did := range a.acts {
		own := did.who == actor.Person && did.account == actor.Platform+"/"+actor.User
		if !own || slices.Index(scopeOrder, did.scope) < slices.Index(scopeOrder, scope) {
			continue
		}
		if found < 0 || n.fits(a.acts[found], input) != "" {
			found = k
		}
	}
	if found < 0 {
		m.rt.Fatalf("%+v approved and never clicked; clicks: %+v", actor, a.acts)
	}
	return a.acts[found]
}

var scopeOrder = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}
