package engine_test

import (
	"reflect"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
)

// This file is the reference model of grants. A request is approved without a
// person only if the exact same request, or every rule that a part of it needs,
// was granted in this location to this agent, for this session or for every
// one, by people whose approval would approve it now.

// shortGrant is the duration of a grant under some rules.
const shortGrant = 25 * time.Millisecond

// wish is a request in the small world of the model.
type wish struct {
	agent, session, prompt, tool, place, line, requester string
	lasting                                              bool // the agent offers standing approvals
	remembers                                            bool // the agent remembers them itself
}

func (q wish) request() bridge.Request {
	r := shell(q.line)
	r.Prompt, r.Session, r.Requester = q.prompt, q.session, q.requester
	a := r.Approval
	a.Tool, a.Where, a.AgentRemembers, a.Key = q.tool, q.place, q.remembers, "rule:a"
	if q.lasting {
		a.Decisions = append(a.Decisions, bridge.DecideSession, bridge.DecideAlways)
	}
	return r
}

func (q wish) input() string { return string(shell(q.line).Approval.Input) }

// same reports whether two requests are exactly the same for people.
func (q wish) same(o wish) bool {
	return q.agent == o.agent && q.prompt == o.prompt && q.tool == o.tool && q.place == o.place && q.line == o.line
}

// given is a standing approval as the model remembers it.
type given struct {
	wish
	origin bridge.ID
	acts   []act
	scope  bridge.Scope
	need   need
	at     time.Time
	// revoked are the rules of need that are no longer granted.
	revoked []policy.Rule
}

// uncovered returns the reason that a standing approval does not cover a request
// under a config. It is empty if it does.
func (m *play) uncovered(q wish, s setup, r rules) string {
	n := r.need(q.line)
	if n.effect != bridge.EffectAsk || q.remembers || n.once || !q.lasting {
		return "no standing approval applies"
	}
	holds := func(g given, same bool) bool {
		for _, lasts := range []time.Duration{g.need.lasts, n.lasts} { // as it was given, and as rules say now
			if lasts > 0 && !m.began.Before(g.at.Add(lasts)) {
				return false
			}
		}
		if !same || g.agent != q.agent || g.scope == bridge.ScopeSession && (q.session == "" || g.session != q.session) {
			return false
		}
		var acts []act
		for _, a := range g.acts {
			a.input = q.input() // people approved exactly this input with the grant
			acts = append(acts, a)
		}
		return allowed(s, n, q.agent, q.requester, q.input(), acts) == ""
	}
	if slices.ContainsFunc(m.grants, func(g given) bool { return holds(g, len(g.need.byRule) == 0 && g.same(q)) }) {
		return ""
	}
	for _, rule := range n.byRule {
		if !slices.ContainsFunc(m.grants, func(g given) bool {
			return holds(g, g.place == q.place && among(g.need.byRule, rule) && !among(g.revoked, rule))
		}) {
			return "no one granted the rule " + rule.Name
		}
	}
	if len(n.byRule) == 0 {
		return "no one granted this request"
	}
	return ""
}

// give remembers what an approval by people gave.
func (m *play) give(a *asking, scope bridge.Scope, acts []act) {
	if a.wish.remembers || scope == bridge.ScopeOnce {
		return
	}
	m.grants = append(m.grants, given{a.wish, a.id, acts, scope, a.rules.need(a.wish.line), time.Now(), nil})
}

// listed returns the grants that nod lists.
func (m *play) listed() []bridge.Grant {
	var own []bridge.Grant
	for _, agent := range m.agents {
		all, err := m.engine.Grants.List(m.t.Context(), agent)
		if err != nil {
			m.rt.Fatal(err)
		}
		own = append(own, all.Items...)
	}
	return own
}

// age waits until the short grants have ended.
func (m *play) age() {
	for _, g := range m.listed() {
		if left := time.Until(g.Expires); left < shortGrant {
			bridge.Pause(m.t.Context(), left)
		}
	}
}

// revoke ends one of the grants that nod lists, and all of the model for the
// same.
func (m *play) revoke() {
	own := m.listed()
	if len(own) == 0 {
		return
	}
	g := rapid.SampledFrom(own).Draw(m.rt, "grant")
	n := slices.IndexFunc(m.grants, func(o given) bool { return o.origin == g.Origin })
	if n < 0 && !m.clicked(g) {
		m.rt.Fatalf("no one gave %+v", g)
	}
	switch _, err := m.engine.Grants.Revoke(m.t.Context(), g.Agent, g.ID(), "ana"); {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return // the request has closed in the meantime
	case err != nil:
		m.rt.Fatal(err)
	case n < 0:
		return
	}
	gone := m.grants[n]
	m.grants = slices.DeleteFunc(m.grants, func(o given) bool {
		if g.Rule != "" || o.scope != gone.scope || gone.scope == bridge.ScopeSession && o.session != gone.session {
			return false
		}
		return len(o.need.byRule) == 0 && o.same(gone.wish)
	})
	for n := range m.grants { // a rule that is revoked leaves those that were granted with it
		o := &m.grants[n]
		if g.Rule != "" && o.agent == gone.agent && o.place == gone.place && o.scope == gone.scope && (o.scope == bridge.ScopeAlways || o.session == gone.session) {
			o.revoked = append(slices.Clone(o.revoked), gone.ruled(g.Rule))
		}
	}
	m.counts["revocations"]++
}

// clicked reports whether people gave a grant that the model does not know,
// because the record of its request was changed afterward and cannot be read.
func (m *play) clicked(g bridge.Grant) bool {
	n := slices.IndexFunc(m.all, func(a *asking) bool { return a.id == g.Origin && a.tampered })
	return n >= 0 && !slices.ContainsFunc(g.Givers, func(who bridge.Actor) bool {
		return !slices.ContainsFunc(m.all[n].acts, func(a act) bool { return a.who == who.Person && a.scope == g.Scope() })
	})
}

// ruled is the rule of a name that a grant covers.
func (g given) ruled(name string) policy.Rule {
	n := slices.IndexFunc(g.need.byRule, func(r policy.Rule) bool { return r.Name == name })
	return g.need.byRule[n]
}

func among(all []policy.Rule, rule policy.Rule) bool {
	return slices.ContainsFunc(all, func(r policy.Rule) bool { return reflect.DeepEqual(r, rule) })
}
