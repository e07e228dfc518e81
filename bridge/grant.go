package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// A grant's key begins with what it covers: one exact request, or one rule. A
// key without one of these is of an earlier version.
const (
	exactPrefix = "exact:"
	rulePrefix  = "rule:"
)

// RuleKey identifies a rule for the agent in the location of the interaction.
func (i Interaction) RuleKey(r RuleGrant) string {
	sum := sha256.New()
	for _, part := range []string{i.Agent, r.Key, i.Approval.Where} {
		own := sha256.Sum256([]byte(part)) // of a fixed length
		sum.Write(own[:])
	}
	return rulePrefix + hex.EncodeToString(sum.Sum(nil))
}

// Grantable sets what a session or always approval of the interaction covers,
// and takes back the scopes whose coverage cannot be stated whole. The agent's
// own words are replaced unless the agent itself remembers. Sent is the
// interaction before masking, and digest the one that identifies it: a grant is
// bound to what the agent sent, and stated in what people see.
func (i *Interaction) Grantable(r Ruling, sent Interaction, digest string) {
	if i.Approval == nil {
		return
	}
	a := *i.Approval
	i.Approval, i.GrantFor = &a, r.GrantFor
	if !a.AgentRemembers {
		i.GrantKey, i.GrantRoutes = exactPrefix+digest, r.routes(i.Route)
		if i.Approval.Where == sent.Approval.Where { // two locations can be masked alike
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

// noteScopes states in the scope notes what each scope covers, unless the agent
// itself remembers.
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

// grantable returns the rules that a grant can cover. A rule without a key
// covers nothing, and then neither does any other for the same request.
func (r Ruling) grantable() []RuleGrant {
	if slices.ContainsFunc(r.Grants, func(g RuleGrant) bool { return g.Key == "" }) {
		return nil
	}
	return r.Grants
}

// routes returns the routes that have to approve a request whose own route is
// given.
func (r Ruling) routes(own string) []string {
	out := []string{own}
	for _, name := range r.Routes {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Current reports whether the grant is in the form of this version. One of an
// earlier version covers nothing.
func (g Grant) Current() bool {
	return (strings.HasPrefix(g.Key, exactPrefix) || strings.HasPrefix(g.Key, rulePrefix)) && len(g.Givers) > 0 && !g.At.IsZero()
}

func (g Grant) Scope() Scope {
	if g.Session != "" {
		return ScopeSession
	}
	return ScopeAlways
}

// Needs returns the number of people who have to approve.
func (p Placement) Needs() int { return max(p.Quorum, 1) }

// KeepHidden takes over what was found out about a request before it was
// masked.
func (i *Interaction) KeepHidden(was Interaction) {
	i.GrantKey, i.Redacted, i.RedactedCommand = was.GrantKey, max(was.Redacted, i.Redacted), was.RedactedCommand || i.RedactedCommand
	i.noteScopes()
}
