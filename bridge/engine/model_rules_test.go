package engine_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
)

// This file is the reference model of rules: what they say of a line, and who
// has to approve it. It reads lines of the few forms that the test makes.

// words begin the commands of the model; a rule decides about each.
var words = []string{"a", "b", "c", "d"}

// risks are the levels of the model, the worst last.
var risks = []policy.Risk{{Name: "low"}, {Name: "high"}}

// rules are those of the policy by the word that they match. A word without a
// rule is asked about.
type rules map[string]policy.Rule

// judge is the policy of nod with these rules.
func (r rules) judge() ruleFunc {
	var all []policy.Rule
	for _, w := range slices.Sorted(maps.Keys(r)) {
		all = append(all, r[w])
	}
	p, errs := policy.New(all, risks)
	if len(errs) > 0 {
		panic(errs)
	}
	return p.Judge
}

// partsOf returns the words of a line. Only a line without a substitution is
// plain.
func partsOf(line string) (parts []string, plain bool) {
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ;&$()", r) }) {
		if slices.Contains(words, w) {
			parts = append(parts, w)
		}
	}
	return parts, !strings.Contains(line, "$(")
}

// need is the joined ruling of all parts of a line.
type need struct {
	effect   bridge.Effect
	routes   []string
	quorum   int
	confirms []string
	risk     int           // index into risks; -1 if there is none
	once     bool          // no standing approval is offered
	lasts    time.Duration // of a standing approval; zero means no limit
	byRule   []policy.Rule // that a standing approval covers
}

func (r rules) need(line string) need {
	parts, plain := partsOf(line)
	out := need{effect: bridge.EffectAllow, risk: -1}
	byRule := plain
	for _, w := range parts {
		rule, ok := r[w]
		switch {
		case rule.Then == bridge.EffectDeny:
			return need{effect: bridge.EffectDeny}
		case rule.Then == bridge.EffectAllow:
			continue
		case !ok:
			rule = policy.Rule{}
		}
		out.effect = bridge.EffectAsk
		byRule = byRule && rule.Grant == "rule"
		out.byRule = append(out.byRule, rule)
		out.quorum = max(out.quorum, rule.Quorum)
		out.confirms = append(out.confirms, strings.Fields(rule.Confirm)...)
		out.risk = max(out.risk, riskRank(rule.Risk))
		out.once = out.once || len(rule.Scopes) > 0
		if d := time.Duration(rule.GrantFor); d > 0 && (out.lasts == 0 || d < out.lasts) {
			out.lasts = d
		}
		out.routes = append(out.routes, cmp.Or(rule.Route, "default"))
	}
	if !plain && out.effect == bridge.EffectAllow || len(parts) == 0 {
		out.effect, out.routes = bridge.EffectAsk, []string{"default"}
	}
	if !byRule {
		out.byRule = nil
	}
	return out
}

func riskRank(name string) int {
	return slices.IndexFunc(risks, func(r policy.Risk) bool { return r.Name == name })
}

// act is an approval that a person gave, with what they saw and typed.
type act struct {
	who, account string
	typed        string
	risk         string // of the card
	input        string // of the card, or as edited
	scope        bridge.Scope
}

// fits returns the reason that an act is not an approval of an input under
// what is required. It is empty if it is one.
func (n need) fits(a act, input string) string {
	for _, c := range n.confirms {
		if !slices.Contains(strings.Fields(a.typed), c) {
			return a.who + " did not type the confirmation"
		}
	}
	switch {
	case a.input != input:
		return a.who + " saw another input"
	case riskRank(a.risk) < n.risk:
		return a.who + " did not see the risk"
	}
	return ""
}

// allowed returns the reason that an approval must not happen under the current
// config. It is empty if the approval may happen. It is the whole model of an
// approval by people: what the policy says of the input, who has to approve it,
// and what each of them saw.
func allowed(s setup, n need, agent, requester, input string, approvers []act) string {
	switch n.effect {
	case bridge.EffectDeny:
		return "the policy denies it"
	case bridge.EffectAllow:
		return "" // nobody has to approve it
	}
	people, accounts := map[string]bool{}, map[string]bool{}
	for _, a := range approvers {
		people[a.who], accounts[a.account] = true, true
		if why := n.fits(a, input); why != "" {
			return why
		}
		if s.account(a.account) != a.who {
			return a.account + " is an account of someone else now"
		}
	}
	self := true
	for _, name := range n.routes {
		route, count := s.routes[name], 0
		self = self && route.AllowSelf
		for _, who := range team {
			if people[who] && responds(route, who) {
				count++
			}
		}
		if count < max(route.Quorum, 1) {
			return fmt.Sprintf("%d of the route %s approved", count, name)
		}
		for _, who := range route.Must {
			if !people[who] || !responds(route, who) {
				return who + " did not approve"
			}
		}
	}
	if least := max(n.quorum, 1); len(people) < least || len(accounts) < least {
		return fmt.Sprintf("%d people with %d accounts approved", len(people), len(accounts))
	}
	for _, who := range append(slices.Clone(s.agents[agent].Owners), requester) {
		if people[who] && !self {
			return who + " approved their own request"
		}
	}
	return ""
}

func responds(route bridge.Route, who string) bool {
	return slices.ContainsFunc(route.Responders, func(r bridge.Responder) bool { return r.Person == who })
}

// account returns the person that an account belongs to now.
func (s setup) account(name string) string {
	if who, ok := strings.CutPrefix(name, "api/"); ok {
		return who
	}
	for who, p := range s.people {
		if "chat/"+p.Accounts["chat"] == name {
			return who
		}
	}
	return ""
}

func drawRoutes(t *rapid.T) map[string]bridge.Route {
	routes := map[string]bridge.Route{}
	for n, name := range []string{"default", "prod", "sec"} {
		people := rapid.SliceOfNDistinct(rapid.SampledFrom(team), 1, 5, rapid.ID).Draw(t, name)
		r := routeTo(fmt.Sprint("C", n), people...)
		r.Quorum = rapid.SampledFrom([]int{0, 0, 0, 0, 2}).Draw(t, "quorum")
		r.AllowSelf = rapid.IntRange(0, 3).Draw(t, "self") == 0
		r.DenyCounts = rapid.IntRange(0, 3).Draw(t, "deny") == 0
		if rapid.IntRange(0, 3).Draw(t, "with must") == 0 {
			r.Must = []string{rapid.SampledFrom(people).Draw(t, "must")}
		}
		routes[name] = r
	}
	return routes
}

func drawRules(t *rapid.T) rules {
	out := rules{}
	for _, w := range words {
		r := policy.Rule{Name: w, Command: []string{w + " *"}, Then: rapid.SampledFrom([]bridge.Effect{bridge.EffectAsk,
			bridge.EffectAsk, bridge.EffectAsk, bridge.EffectAsk, bridge.EffectAsk, bridge.EffectAllow, bridge.EffectDeny, ""}).Draw(t, "effect")}
		switch r.Then {
		case "":
			continue // no rule
		case bridge.EffectAsk:
			r.Route = rapid.SampledFrom([]string{"", "", "", "prod", "sec"}).Draw(t, "route")
			r.Quorum = rapid.SampledFrom([]int{0, 0, 0, 0, 2}).Draw(t, "quorum")
			r.Confirm = rapid.SampledFrom([]string{"", "", "", "", "", "yes", "sure"}).Draw(t, "confirm")
			r.Risk = rapid.SampledFrom([]string{"", "", "low", "high"}).Draw(t, "risk")
			r.Scopes = rapid.SampledFrom([][]bridge.Scope{nil, nil, nil, nil, nil, nil, {bridge.ScopeOnce}}).Draw(t, "scopes")
			r.GrantFor = rapid.SampledFrom([]bridge.Duration{0, 0, 0, bridge.Duration(shortGrant)}).Draw(t, "lasts")
			r.Reason = "because"
			if rapid.IntRange(0, 2).Draw(t, "by rule") > 0 {
				r.Grant = "rule"
			}
		}
		out[w] = r
	}
	return out
}

func drawSetup(t *rapid.T, agents []string) (setup, rules) {
	s := newSetup()
	s.routes = drawRoutes(t)
	r := drawRules(t)
	s.policy = r.judge()
	for _, name := range agents {
		s.agents[name] = bridge.Agent{Name: name}
	}
	if rapid.IntRange(0, 3).Draw(t, "owned") == 0 {
		s.agents[agents[0]] = bridge.Agent{Name: agents[0], Owners: []string{"ana"}}
	}
	if rapid.IntRange(0, 4).Draw(t, "accounts move") == 0 { // ana's account is bo's now, and his hers
		s.swap("ana", "bo")
	}
	return s, r
}

// lineOf is the command of an input.
func lineOf(input string) string { return commandOf(bridge.Act{Input: json.RawMessage(input)}) }
