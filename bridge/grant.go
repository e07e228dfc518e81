package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The prefix of a grant key is the kind of the grant: for one exact request, or
// for one rule.
const (
	exactPrefix = "exact:"
	rulePrefix  = "rule:"
)

// Grant is a standing approval. It covers the exact same request, or everything
// that one configured rule matches, for one agent in one location.
type Grant struct {
	Agent   string `json:"agent"`
	Session string `json:"session,omitempty"` // empty means every session
	// Key is derived by nod from the coverage of the grant. It never contains a
	// key that an agent sends.
	Key     string    `json:"key"`
	Actor   Actor     `json:"actor"`
	Origin  ID        `json:"origin"` // the interaction in which it was given
	Expires time.Time `json:"expires"`
	Tool    string    `json:"tool,omitempty"`
	// Covers states exactly what the grant covers. The card showed the same
	// words before the approval; see [Interaction.Coverage].
	Covers string `json:"covers,omitempty"`
	Where  string `json:"where,omitempty"`  // the only location that the grant covers
	Route  string `json:"route,omitempty"`  // route of the request in which it was given
	Quorum int    `json:"quorum,omitempty"` // required approvals when it was given

	At   time.Time `json:"at,omitzero"`    // when it was given
	Rule string    `json:"rule,omitempty"` // name of the rule; empty for a grant of the exact request
	// Givers lists the people who approved. A grant applies only while they
	// could approve the request that it covers.
	Givers []Actor `json:"givers,omitempty"`
	// Routes, Confirm and Risk belong to the approved request. The grant does
	// not cover a request whose routes, confirmation or risk level differ.
	Routes  []string `json:"routes,omitempty"`
	Confirm string   `json:"confirm,omitempty"`
	Risk    string   `json:"risk,omitempty"`
	// Assurance is the assurance of all approvals of the grant. It is empty if
	// they differed.
	Assurance Assurance `json:"assurance,omitempty"`
}

// GrantKeys returns the keys of the grants that could cover an interaction. The
// first is the key of the exact request. One key follows for each rule that a
// part of the request needs.
func (i Interaction) GrantKeys() []string {
	if i.Approval == nil || i.Approval.AgentRemembers || i.GrantKey == "" {
		return nil
	}
	keys := []string{i.GrantKey}
	for _, r := range i.RuleGrants {
		keys = append(keys, i.RuleKey(r))
	}
	return keys
}

// RuleKey returns the grant key of a rule for the agent and the location of the
// interaction.
func (i Interaction) RuleKey(r RuleGrant) string {
	sum := sha256.New()
	for _, part := range []string{i.Agent, r.Key, i.Approval.Where} {
		own := sha256.Sum256([]byte(part)) // has a fixed length
		sum.Write(own[:])
	}
	return rulePrefix + hex.EncodeToString(sum.Sum(nil))
}

// Grantable sets the coverage of a session or always approval of the
// interaction. It removes the scopes whose coverage is too long to state in
// full. It replaces the scope notes unless the agent remembers approvals
// itself. The arguments sent and key are the interaction before redaction
// and its key, because a grant is bound to the text that the agent sent.
func (i *Interaction) Grantable(r Ruling, sent Interaction, key string) {
	if i.Approval == nil {
		return
	}
	a := *i.Approval
	i.Approval, i.GrantFor = &a, r.GrantFor
	if !a.AgentRemembers {
		i.GrantKey, i.GrantRoutes = exactPrefix+key, r.routes(i.Route)
		if i.Approval.Where == sent.Approval.Where { // different locations can look the same after redaction
			i.RuleGrants = r.grantable()
		}
	}
	keep := []Scope{ScopeOnce}
	for _, s := range []Scope{ScopeSession, ScopeAlways} {
		if utf8.RuneCountInString(strings.Join(i.Coverage(s), "")) <= maxCoverage {
			keep = append(keep, s)
		}
	}
	a.Limit(keep)
	i.noteScopes()
}

// noteScopes writes the scope notes unless the agent remembers approvals
// itself. Each note states what its scope covers.
func (i *Interaction) noteScopes() {
	a := i.Approval
	if a.AgentRemembers {
		return
	}
	a.ScopeNotes = nil
	for _, s := range a.Scopes {
		if covers := i.Coverage(s); len(covers) > 0 {
			if a.ScopeNotes == nil {
				a.ScopeNotes = map[Scope]string{}
			}
			a.ScopeNotes[s] = strings.Join(covers, " ")
		}
	}
}

// grantable returns the rules that a grant can cover. It returns none if any
// rule of the request has no key.
func (r Ruling) grantable() []RuleGrant {
	if slices.ContainsFunc(r.Grants, func(g RuleGrant) bool { return g.Key == "" }) {
		return nil
	}
	return r.Grants
}

// routes returns the routes that have to approve a request, given its own
// route.
func (r Ruling) routes(own string) []string {
	out := []string{own}
	for _, name := range r.Routes {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Scope returns ScopeSession if the grant is limited to a session, and
// ScopeAlways otherwise.
func (g Grant) Scope() Scope {
	if g.Session != "" {
		return ScopeSession
	}
	return ScopeAlways
}

// Needs returns the number of required approvals.
func (p Placement) Needs() int { return max(p.Quorum, 1) }

// KeepHidden copies from an earlier evaluation the fields that can only be
// computed before redaction.
func (i *Interaction) KeepHidden(was Interaction) {
	i.GrantKey, i.Redacted, i.RedactedCommand = was.GrantKey, max(was.Redacted, i.Redacted), was.RedactedCommand || i.RedactedCommand
	i.noteScopes()
}

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

// ID identifies the grant to people. It does not change when the grant is given
// again.
func (g Grant) ID() string {
	sum := sha256.Sum256([]byte(g.Agent + "\x00" + g.Session + "\x00" + g.Key))
	return hex.EncodeToString(sum[:6])
}

// Words returns a text that states what the grant covers, when it ends, and who
// gave it.
func (g Grant) Words() string {
	var givers []string
	for _, a := range g.Givers {
		givers = append(givers, readable(OneLine(a.Display())))
	}
	return g.Covers + " Given by " + strings.Join(givers, ", ") + " until " + g.Expires.UTC().Format("2006-01-02 15:04 UTC") + "."
}

// GrantIDs returns the IDs of grants, the newest grant first.
func GrantIDs(all []Grant) []string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Grant) int { return b.At.Compare(a.At) })
	ids := make([]string, len(all))
	for n, g := range all {
		ids[n] = g.ID()
	}
	return ids
}
