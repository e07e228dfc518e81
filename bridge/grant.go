package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A grant's key begins with what it covers: one exact request, or one rule. A
// key without one of these is of an earlier version.
const (
	exactPrefix = "exact:"
	rulePrefix  = "rule:"
)

// exactKey identifies the request as the agent sent it: two requests have the
// same key only if everything in them that people see is the same. It is empty
// if the interaction is not an approval.
func (i Interaction) exactKey() (string, error) {
	a := i.Approval
	if a == nil {
		return "", nil
	}
	d, err := digestOf(struct {
		Agent    string          `json:"agent"`
		Kind     Kind            `json:"kind"`
		Tool     string          `json:"tool"`
		ToolName string          `json:"tool_name"`
		Input    json.RawMessage `json:"input,omitempty"`
		Prompt   string          `json:"prompt"`
		Error    string          `json:"error"`
		Where    string          `json:"where"`
	}{i.Agent, i.Kind, a.Tool, i.ToolName, a.Input, i.Prompt, i.Error, a.Where})
	return exactPrefix + d, err
}

// ruleKey identifies a rule for the agent in the location of the interaction.
func (i Interaction) ruleKey(r RuleGrant) string {
	sum := sha256.New()
	for _, part := range []string{i.Agent, r.Key, i.Approval.Where} {
		own := sha256.Sum256([]byte(part)) // of a fixed length
		sum.Write(own[:])
	}
	return rulePrefix + hex.EncodeToString(sum.Sum(nil))
}

// maxShort bounds a text that is shown shortened, in characters.
const maxShort = 200

func shortened(s string) string {
	if utf8.RuneCountInString(s) > maxShort {
		s = string([]rune(s)[:maxShort-1]) + "…"
	}
	return s
}

// grantable sets what a session or always approval of the interaction covers,
// and takes back the scopes whose coverage cannot be stated whole. The agent's
// own words are replaced unless the agent itself remembers. Sent is the
// interaction before masking: a grant is bound to what the agent sent, and
// stated in what people see.
func (i *Interaction) grantable(r Ruling, sent Interaction) error {
	if i.Approval == nil {
		return nil
	}
	exact, err := sent.exactKey()
	if err != nil {
		return err
	}
	a := *i.Approval
	i.Approval, i.GrantFor = &a, r.GrantFor
	if !a.AgentRemembers {
		i.GrantKey, i.GrantRoutes = exact, i.routesOf(r)
		if i.Approval.Where == sent.Approval.Where { // two locations can be masked alike
			i.RuleGrants = r.grantable()
		}
	}
	keep := []Scope{ScopeOnce}
	for _, s := range []Scope{ScopeSession, ScopeAlways} {
		if i.stated(s) {
			keep = append(keep, s)
		}
	}
	a.limit(keep)
	i.noteScopes()
	return nil
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

// routesOf are the routes that have to approve under a ruling.
func (i Interaction) routesOf(r Ruling) []string {
	out := []string{i.Route}
	for _, name := range r.Routes {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// granted returns the response of the grants that cover an interaction. It
// returns nil if a person has to be asked.
func (e *Engine) granted(ctx context.Context, i Interaction) (*Response, error) {
	all, err := e.covering(ctx, i)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return covered(i, all), nil
}

// covering returns the grants that together cover an interaction: one of the
// exact request, or one for each rule that a part of it needs. It returns none
// if any part is not covered under all that is required now.
func (e *Engine) covering(ctx context.Context, i Interaction) ([]Grant, error) {
	if i.Approval == nil || i.Approval.AgentRemembers || i.GrantKey == "" {
		return nil, nil
	}
	keys := []string{i.GrantKey}
	for _, r := range i.RuleGrants {
		keys = append(keys, i.ruleKey(r))
	}
	found, err := e.store.Covering(ctx, i.Agent, i.Session, keys)
	if err != nil {
		return nil, err
	}
	holding := map[string]Grant{}
	for _, g := range found {
		if _, known := holding[g.Key]; !known && e.holds(ctx, g, i) {
			holding[g.Key] = g
		}
	}
	if g, ok := holding[i.GrantKey]; ok {
		return []Grant{g}, nil
	}
	var all []Grant
	for _, key := range keys[1:] {
		g, ok := holding[key]
		if !ok {
			return nil, nil
		}
		all = append(all, g)
	}
	return all, nil
}

// holds reports whether a grant meets all that an interaction requires now. The
// store finds grants by their keys; everything else is compared here, and what
// cannot be found out does not hold.
func (e *Engine) holds(ctx context.Context, g Grant, i Interaction) bool {
	now, ends := time.Now(), g.Expires
	if i.GrantFor > 0 && g.At.Add(time.Duration(i.GrantFor)).Before(ends) {
		ends = g.At.Add(time.Duration(i.GrantFor)) // the policy has shortened it
	}
	a := i.Approval
	switch {
	case !g.current() || g.Agent != i.Agent || g.Session != "" && g.Session != i.Session || g.Where != a.Where:
		return false
	case !now.Before(ends) || !slices.Contains(a.Scopes, g.scope()):
		return false
	case a.Confirm != "" && a.Confirm != g.Confirm, i.Risk != "" && i.Risk != g.Risk, len(missing(g.Routes, i.GrantRoutes)) > 0:
		return false
	}
	if err := e.checkGrant(g); err != nil {
		e.log.Error("a stored grant is not accepted", "grant", g.ID(), "agent", g.Agent, "error", err)
		return false
	}
	enough, err := e.enough(ctx, i, g.Givers)
	if err != nil {
		e.log.Warn("a grant is not used, as the people who gave it cannot be looked up", "grant", g.ID(), "agent", g.Agent, "error", err)
	}
	return err == nil && enough
}

// enough reports whether the approvals of these people would approve the
// interaction now.
func (e *Engine) enough(ctx context.Context, i Interaction, givers []Actor) (bool, error) {
	var counted []Actor
	slots := i.Slots()
	for _, giver := range givers {
		who, why, err := e.eligible(ctx, i, giver)
		if err != nil {
			return false, err
		}
		if why != "" || who.Person != giver.Person || slices.ContainsFunc(counted, who.Same) {
			continue // also if the account has another owner now
		}
		counted = append(counted, who)
		b, err := e.ballot(ctx, i, who, Response{State: StateApproved})
		if err != nil {
			return false, err
		}
		for _, n := range b.Covers {
			slots[n]--
		}
	}
	open := slices.ContainsFunc(slots, func(left int) bool { return left > 0 })
	return len(counted) >= i.needs() && !open, nil
}

// current reports whether the grant is in the form of this version. One of an
// earlier version covers nothing.
func (g Grant) current() bool {
	return (strings.HasPrefix(g.Key, exactPrefix) || strings.HasPrefix(g.Key, rulePrefix)) && len(g.Givers) > 0 && !g.At.IsZero()
}

func (g Grant) scope() Scope {
	if g.Session != "" {
		return ScopeSession
	}
	return ScopeAlways
}

// covered is the response to an interaction that grants cover.
func covered(i Interaction, all []Grant) *Response {
	actor := all[0].Actor
	r := &Response{
		State: StateApproved, Scope: ScopeAlways, Actor: &actor, At: i.Created, Digest: i.Digest, Grant: all[0].Origin, Annotations: map[string]Annotation{},
	}
	var origins []string
	for _, g := range all {
		if g.scope() == ScopeSession {
			r.Scope = ScopeSession
		}
		r.Covers = append(r.Covers, g.Covers)
		if !slices.Contains(origins, string(g.Origin)) {
			origins = append(origins, string(g.Origin))
		}
	}
	r.Reason = "covered by the grant given in " + origins[0]
	if len(origins) > 1 {
		r.Reason = "covered by the grants given in " + strings.Join(origins, ", ")
	}
	return r
}

// needs returns the number of people who have to approve.
func (i Interaction) needs() int { return max(i.Quorum, 1) }
