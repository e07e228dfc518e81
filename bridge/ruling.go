package bridge

import (
	"encoding/json"
	"slices"
	"time"
)

// Effect is the effect of a policy on an approval.
type Effect string

// The effects, from most to least permissive.
const (
	EffectAllow Effect = "allow" // approved without asking anyone
	EffectAsk   Effect = "ask"
	EffectDeny  Effect = "deny" // denied without asking anyone, regardless of grants
)

// Act is the operation that a policy evaluates.
type Act struct {
	Agent string
	Tool  string
	Input json.RawMessage
	Where string
	// Gate holds the gates of the agent's own settings, such as Bash(git push *),
	// separated by |. It may be empty.
	Gate string
	// Doubts are reasons why no rule may allow the operation, such as a link that
	// leads out of the project.
	Doubts []string
}

// Ruling is the result of evaluating a policy. A zero field leaves the request
// unchanged.
type Ruling struct {
	Effect Effect `json:"effect"`
	Rule   string `json:"rule,omitempty"` // the rule that matched; empty if none did
	Reason string `json:"reason,omitempty"`

	// Routes lists the routes that must all approve, in order. If it is
	// empty, the route of the request applies. If the operation has several
	// parts, each can add a route.
	Routes    []string  `json:"routes,omitempty"`
	Risk      string    `json:"risk,omitempty"`
	Scopes    []Scope   `json:"scopes,omitempty"` // scopes that may be offered
	Timeout   Duration  `json:"timeout,omitempty"`
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
	Quorum    int       `json:"quorum,omitempty"`
	Confirm   string    `json:"confirm,omitempty"`
	StepUp    Assurance `json:"step_up,omitempty"`
	// Redact lists fields of the input that people must not see.
	Redact []string `json:"redact,omitempty"`
	// GrantFor limits how long a grant lasts. Zero means no additional
	// limit.
	GrantFor Duration `json:"grant_for,omitempty"`
	// Grants lists the rules that a grant would cover, one for each part of
	// the operation that requires approval. If it is empty, a grant covers
	// the exact request only.
	Grants []RuleGrant `json:"grants,omitempty"`
}

// Demands reports whether a rule asks people or denies the operation. Without a
// rule, people are asked by default.
func (r Ruling) Demands() bool {
	return r.Effect == EffectDeny || r.Effect == EffectAsk && r.Rule != ""
}

// RuleGrant is a configured rule that a grant can cover.
type RuleGrant struct {
	// Key identifies the rule and its conditions. It changes when the rule
	// is edited, so that a grant never covers more than its card stated.
	Key  string `json:"key"`
	Rule string `json:"rule"` // name of the rule
	// Covers describes the requests that the rule matches.
	Covers string `json:"covers"`
}

// Policy evaluates operations before people are asked. It is safe for
// concurrent use.
type Policy interface {
	// Judge evaluates an operation. If one of its gates selects it, people are
	// asked, unless a rule denies it.
	Judge(Act) Ruling
}

// Limit removes the scopes and decisions that the given scopes do not allow.
// The scope "once" is never removed.
func (a *Approval) Limit(scopes []Scope) {
	keep := func(s Scope) bool { return s.Kind() == ScopeOnce || slices.Contains(scopes, s.Kind()) }
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

// WithoutEdit removes the edit decision, because an input that requires
// confirmation or is redacted cannot be edited.
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

// grantTTL returns the lifetime of a grant, which is at most longest.
func (r Ruling) grantTTL(longest time.Duration) time.Duration {
	if d := time.Duration(r.GrantFor); d > 0 {
		return min(d, longest)
	}
	return longest
}
