package bridge

import (
	"encoding/json"
	"slices"
	"time"
)

// Effect is what a policy does with an approval.
type Effect string

// The effects, the mildest first.
const (
	EffectAllow Effect = "allow" // nobody is asked
	EffectAsk   Effect = "ask"
	EffectDeny  Effect = "deny" // nobody is asked, and no grant helps
)

// Act is what a policy judges.
type Act struct {
	Agent string
	Tool  string
	Input json.RawMessage
	Where string
}

// Ruling is what a policy says about an act. Zero fields leave the request as
// it is.
type Ruling struct {
	Effect Effect `json:"effect"`
	Rule   string `json:"rule,omitempty"` // that decided; empty: none matched
	Reason string `json:"reason,omitempty"`

	// Routes are the routes whose responders must all approve, in order. Empty
	// means the route of the request. A request made of parts has one for each
	// part that a rule sends elsewhere.
	Routes    []string  `json:"routes,omitempty"`
	Risk      string    `json:"risk,omitempty"`
	Scopes    []Scope   `json:"scopes,omitempty"` // that may be offered
	Timeout   Duration  `json:"timeout,omitempty"`
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
	Quorum    int       `json:"quorum,omitempty"`
	Confirm   string    `json:"confirm,omitempty"`
	// Redact names fields of the input that people do not see.
	Redact []string `json:"redact,omitempty"`
	// GrantFor bounds how long a grant lasts. Zero means no bound of its own.
	GrantFor Duration `json:"grant_for,omitempty"`
	// Grants are the rules that a grant would cover, one for each part of the
	// act that is asked about. If empty, a grant covers the exact request only.
	Grants []RuleGrant `json:"grants,omitempty"`
}

// RuleGrant is a rule, written by the operator, that a grant can cover.
type RuleGrant struct {
	// Key identifies the rule and its conditions: it changes when the rule is
	// edited, so that a grant never covers more than was shown.
	Key  string `json:"key"`
	Rule string `json:"rule"` // name
	// Covers states in words what the rule matches.
	Covers string `json:"covers"`
}

// Policy judges acts before any human is disturbed. It is safe for concurrent
// use.
type Policy interface {
	Judge(Act) Ruling
}

// Limit keeps of what is on offer what the scopes allow; once is always left.
func (a *Approval) Limit(scopes []Scope) {
	keep := func(s Scope) bool { return s == ScopeOnce || slices.Contains(scopes, s) }
	if a.Scopes = slices.DeleteFunc(slices.Clone(a.Scopes), func(s Scope) bool { return !keep(s) }); len(a.Scopes) == 0 {
		a.Scopes = []Scope{ScopeOnce}
	}
	if len(a.Decisions) == 0 {
		return
	}
	a.Decisions = slices.DeleteFunc(slices.Clone(a.Decisions), func(d Decision) bool {
		return ScopeOrder(Scope(d)) >= 0 && !keep(Scope(d))
	})
	if !slices.ContainsFunc(a.Decisions, Decision.Approves) {
		a.Decisions = append(a.Decisions, DecideOnce)
	}
}

// WithoutEdit takes the edit back: what is confirmed or hidden cannot be
// edited.
func (a *Approval) WithoutEdit() {
	if !slices.Contains(a.Decisions, DecideEdit) {
		return
	}
	a.Decisions = slices.DeleteFunc(slices.Clone(a.Decisions), func(d Decision) bool { return d == DecideEdit })
	if !slices.ContainsFunc(a.Decisions, Decision.Approves) {
		a.Decisions = append(a.Decisions, DecideOnce)
		a.Scopes = append(a.Scopes, ScopeOnce)
	}
}

// grantTTL is how long a grant lasts.
func (r Ruling) grantTTL(longest time.Duration) time.Duration {
	if d := time.Duration(r.GrantFor); d > 0 {
		return min(d, longest)
	}
	return longest
}
