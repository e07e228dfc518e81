package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// This file has a reference model of grants, written from one sentence: a
// request is approved without a person only if the exact same request, or every
// rule that its parts need, was granted in this location to this agent, for this
// session or for every one, by people who could approve it now, under the same
// confirmation and risk. The test gives both the same random requests, rules,
// grants and policies.

// modelRoute is a route of a court as the model knows it.
type modelRoute struct {
	people []string
	quorum int
	must   string
}

var modelRoutes = map[string]modelRoute{
	"default": {people: []string{"ana", "bo"}}, "prod": {people: []string{"bo", "cy"}},
	"both": {people: []string{"ana", "bo"}, quorum: 2}, "must": {people: []string{"ana", "bo"}, must: "bo"},
}

// modelGrant is a grant as the model remembers it.
type modelGrant struct {
	agent, session, where string
	exact                 string // all that people see; empty for a rule
	rule                  string // its key
	givers                []string
	route, confirm, risk  string
}

// modelRequest is a request in the small world of the model.
type modelRequest struct {
	agent, session, prompt, tool, command, where, requester, key string
	scopes                                                       []bridge.Scope
	remembers                                                    bool
}

func (q modelRequest) request() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: q.prompt, Session: q.session, Requester: q.requester, Approval: &bridge.Approval{
			Tool: q.tool, Input: json.RawMessage(line(q.command)), Where: q.where, Key: q.key, Scopes: q.scopes, AgentRemembers: q.remembers,
		},
	}}
}

func (q modelRequest) seen() string {
	return fmt.Sprintf("%q", []string{q.agent, q.prompt, q.tool, q.command, q.where})
}

// modelPolicy is a policy that changes while the test runs.
type modelPolicy struct {
	denied  string // a word
	version int
	rules   []string
	route   string
	confirm string
	risk    string
	quorum  int
	once    bool // no other scope may be offered
}

func (p modelPolicy) judge(a bridge.Act) bridge.Ruling {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(a.Input, &in)
	r := bridge.Ruling{Effect: bridge.EffectAsk, Confirm: p.confirm, Risk: p.risk, Quorum: p.quorum}
	if p.denied != "" && strings.Contains(in.Command, p.denied) {
		r.Effect = bridge.EffectDeny
	}
	if p.route != "" {
		r.Routes = []string{p.route}
	}
	if p.once {
		r.Scopes = []bridge.Scope{bridge.ScopeOnce}
	}
	for part := range strings.SplitSeq(in.Command, "; ") {
		word := strings.Fields(part)[0]
		if !slices.Contains(p.rules, word) {
			r.Grants = nil
			return r
		}
		r.Grants = append(r.Grants, bridge.RuleGrant{Key: fmt.Sprint(word, p.version), Rule: word, Covers: "`" + word + " *`"})
	}
	return r
}

// model is the reference.
type model struct {
	policy modelPolicy
	given  []modelGrant
}

func (m *model) covers(q modelRequest, policy modelPolicy) bool {
	ruling := policy.judge(bridge.Act{Input: json.RawMessage(line(q.command))})
	if ruling.Effect != bridge.EffectAsk || q.remembers || policy.once {
		return false
	}
	usable := func(match func(modelGrant) bool) bool {
		return slices.ContainsFunc(m.given, func(g modelGrant) bool { return match(g) && m.enough(g, q, policy) })
	}
	if usable(func(g modelGrant) bool { return g.exact == q.seen() }) {
		return true
	}
	for _, r := range ruling.Grants {
		if !usable(func(g modelGrant) bool { return g.exact == "" && g.rule == r.Key }) {
			return false
		}
	}
	return len(ruling.Grants) > 0
}

// enough reports whether a grant meets all but what it is for.
func (m *model) enough(g modelGrant, q modelRequest, policy modelPolicy) bool {
	scope, route := bridge.ScopeAlways, "default"
	if g.session != "" {
		scope = bridge.ScopeSession
	}
	if policy.route != "" {
		route = policy.route
	}
	if g.agent != q.agent || g.where != q.where || g.session != "" && g.session != q.session || !slices.Contains(q.scopes, scope) ||
		policy.confirm != "" && g.confirm != policy.confirm || policy.risk != "" && g.risk != policy.risk || g.route != route {
		return false
	}
	able, must := 0, modelRoutes[route].must == ""
	for _, who := range g.givers {
		if !slices.Contains(modelRoutes[route].people, who) || who == q.requester {
			return false // everyone who gave it has to be able to approve
		}
		able++
		must = must || who == modelRoutes[route].must
	}
	return able >= max(1, policy.quorum, modelRoutes[route].quorum) && must
}

// give remembers what an approval gave.
func (m *model) give(q modelRequest, policy modelPolicy, scope bridge.Scope, givers []string) {
	if q.remembers || scope == bridge.ScopeOnce {
		return
	}
	g := modelGrant{agent: q.agent, where: q.where, givers: givers, route: policy.route, confirm: policy.confirm, risk: policy.risk}
	if g.route == "" {
		g.route = "default"
	}
	if scope == bridge.ScopeSession {
		g.session = q.session
	}
	put := func(g modelGrant) { // the newer takes the place of one for the same
		m.given = slices.DeleteFunc(m.given, func(o modelGrant) bool {
			return o.agent == g.agent && o.session == g.session && o.where == g.where && o.exact == g.exact && o.rule == g.rule
		})
		m.given = append(m.given, g)
	}
	rules := policy.judge(bridge.Act{Input: json.RawMessage(line(q.command))}).Grants
	if len(rules) == 0 {
		g.exact = q.seen()
		put(g)
	}
	for _, r := range rules {
		g.rule = r.Key
		put(g)
	}
}

// modelRun carries both along.
type modelRun struct {
	*court
	model
	rng     *rand.Rand
	passed  int
	waiting []modelPending
}

type modelPending struct {
	id     bridge.ID
	asked  modelRequest
	policy modelPolicy
}

func (r *modelRun) one(s ...string) string { return s[r.rng.IntN(len(s))] }

func (r *modelRun) request() modelRequest {
	q := modelRequest{
		agent: r.one("ci", "ci", "bot"), session: r.one("s", "s", "u", ""), prompt: r.one("May I?", "May I?", "Really?"), tool: r.one("bash", "bash", "db"),
		command: r.one("push a", "push b", "make a", "push a; make a", "make a; push b", "kill a", "push a; kill a"), where: r.one("/r", "/r", "/o"),
		requester: r.one("", "", "", "ana", "bo"), key: r.one("", "push0", "rule:push0"), remembers: r.rng.IntN(12) == 0,
	}
	for _, g := range r.given { // an agent that knows a key tries it
		if r.rng.IntN(20) == 0 {
			q.key = g.rule + g.exact
		}
	}
	q.scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeAlways}
	if q.session != "" {
		q.scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}
	}
	if r.rng.IntN(10) == 0 {
		q.scopes = q.scopes[:1]
	}
	return q
}

func (r *modelRun) change() {
	p := &r.model.policy
	switch r.rng.IntN(12) {
	case 0:
		p.denied = r.one("", "", "kill", "a")
	case 1:
		p.version = r.rng.IntN(2)
	case 2:
		p.rules = [][]string{nil, {"push"}, {"push", "make"}, {"push", "make", "kill"}}[r.rng.IntN(4)]
	case 3:
		p.route = r.one("", "", "prod", "both", "must", "default")
	case 4:
		p.confirm = r.one("", "", "yes", "prod")
	case 5:
		p.risk = r.one("", "", "low", "high")
	case 6:
		p.quorum = r.rng.IntN(3)
	case 7:
		p.once = r.rng.IntN(4) == 0
	default: // back to what asks for little
		*p = modelPolicy{version: p.version, rules: []string{"push", "make"}, confirm: p.confirm}
	}
}

// decide has people answer a pending request until it ends; what nobody can
// end is withdrawn.
func (r *modelRun) decide(q modelRequest, id bridge.ID) {
	r.shown(id)
	scope := q.scopes[r.rng.IntN(len(q.scopes))]
	if r.model.policy.once {
		scope = bridge.ScopeOnce
	}
	var givers []string
	people := []string{"ana", "bo", "cy"}
	r.rng.Shuffle(len(people), func(a, b int) { people[a], people[b] = people[b], people[a] })
	for _, who := range people {
		reply := bridge.Reply{Decision: bridge.Decision(scope), Confirm: r.model.policy.confirm}
		rec, err := r.engine.Answer(r.t.Context(), id, bridge.Actor{Platform: bridge.PlatformAPI, User: who, Person: who}, reply)
		if err != nil {
			continue // may not answer this one
		}
		givers = append(givers, who)
		if rec.State == bridge.StateApproved {
			r.give(q, r.model.policy, scope, givers)
			r.released()
			return
		}
	}
	if _, err := r.engine.Cancel(r.t.Context(), id, "test"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *modelRun) shown(id bridge.ID) {
	eventually(r.court.t, "a card is posted", func() bool {
		rec, err := r.engine.Get(r.t.Context(), id)
		return err == nil && (len(rec.Messages) > 0 || rec.State.Final())
	})
}

// released compares the pending requests that a new grant released.
func (r *modelRun) released() {
	var left []modelPending
	for _, w := range r.waiting {
		rec, err := r.engine.Get(r.t.Context(), w.id)
		if err != nil {
			r.t.Fatal(err)
		}
		got := rec.State == bridge.StateApproved
		// The policy under which it was opened has to be met as well.
		if want := r.covers(w.asked, r.model.policy) && r.covers(w.asked, merged(w.policy, r.model.policy)); got && !want {
			r.t.Fatalf("released without a grant: %+v under %+v\ngrants %+v", w.asked, r.model.policy, r.given)
		}
		if got {
			r.passed++
		} else {
			left = append(left, w)
		}
	}
	r.waiting = left
}

// merged is the current policy with the requirements of an earlier one added
// where it has none.
func merged(before, now modelPolicy) modelPolicy {
	if now.confirm == "" {
		now.confirm = before.confirm
	}
	if now.risk == "" {
		now.risk = before.risk
	}
	now.quorum, now.once = max(now.quorum, before.quorum), now.once || before.once
	return now
}

func (r *modelRun) step() {
	switch r.rng.IntN(12) {
	case 0, 1:
		r.change()
		return
	case 2:
		all, err := r.engine.Grants.List(r.t.Context(), "")
		if err != nil {
			r.t.Fatal(err)
		}
		if len(all) != len(r.given) {
			r.t.Fatalf("%d grants, and the model has %d", len(all), len(r.given))
		}
		if len(all) > 0 && r.rng.IntN(8) == 0 {
			for _, g := range all {
				if _, err := r.engine.Grants.Revoke(r.t.Context(), "", g.ID(), "ana"); err != nil {
					r.t.Fatal(err)
				}
			}
			r.given = nil
		}
		return
	}
	q := r.request()
	rec, err := r.engine.Open(r.t.Context(), bridge.Agent{Name: q.agent}, q.request(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	if got, want := rec.State == bridge.StateApproved, r.covers(q, r.model.policy); got != want {
		r.t.Fatalf("covered: %v, the model says %v: %+v under %+v\ngrants %+v", got, want, q, r.model.policy, r.given)
	}
	switch {
	case rec.State == bridge.StateApproved:
		r.passed++
	case rec.State != bridge.StatePending:
	case len(r.waiting) < 3 && r.rng.IntN(4) == 0:
		r.waiting = append(r.waiting, modelPending{rec.Interaction.ID, q, r.model.policy})
	default:
		r.decide(q, rec.Interaction.ID)
	}
}

// TestGrantsModel checks random requests, rules, grants and policies against
// the reference model.
func TestGrantsModel(t *testing.T) {
	t.Parallel()
	passed := 0
	for seed := range uint64(6) {
		c := newCourt(t)
		r := &modelRun{court: c, rng: rand.New(rand.NewPCG(seed, 7)), model: model{policy: modelPolicy{rules: []string{"push", "make"}}}}
		c.judge.rule = func(a bridge.Act) bridge.Ruling { return r.model.policy.judge(a) }
		for range 250 {
			r.step()
		}
		passed += r.passed
	}
	if passed < 50 {
		t.Errorf("only %d requests were covered: the test shows little", passed)
	}
	t.Logf("%d requests were covered", passed)
}
