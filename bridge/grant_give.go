package bridge

import (
	"context"
	"slices"
	"strings"
	"time"
)

// given are the grants that a record's approval gives.
func (r Record) given() []Grant {
	i := r.Interaction
	if r.State != StateApproved || r.Response == nil || r.Response.Actor == nil || r.Response.Grant != "" || i.Approval == nil ||
		i.Approval.AgentRemembers || !strings.HasPrefix(i.GrantKey, exactPrefix) || !slices.Contains(i.Approval.Scopes, r.Response.Scope) {
		return nil
	}
	at := r.Response.At.UTC()
	g := Grant{
		Agent: i.Agent, Key: i.GrantKey, Actor: *r.Response.Actor, Origin: i.ID, Tool: i.Approval.Tool, Where: i.Approval.Where,
		Route: i.Route, Quorum: i.needs(), At: at, Routes: i.GrantRoutes, Confirm: i.Approval.Confirm, Risk: i.Risk,
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
		g.Key, g.Rule, g.Covers = i.ruleKey(rule), rule.Rule, covers[n]
		out = append(out, g)
	}
	return out
}

// remember stores the grants that an approval gave, and releases the pending
// requests that they cover. It can be repeated: a grant that was revoked since
// is not given again, and one that was not stored the first time is.
func (e *Engine) remember(ctx context.Context, r Record) error {
	given := r.given()
	news := false
	for _, g := range given {
		if !time.Now().Before(g.Expires) {
			continue
		}
		e.proveGrant(&g)
		stored, err := e.store.PutGrant(ctx, g)
		if err != nil {
			return err
		}
		if !stored {
			continue
		}
		news = true
		if err := e.audit(ctx, AuditGrant, r.Interaction, g); err != nil {
			e.log.Error("grant not in the audit log", "id", r.Interaction.ID, "error", err)
		}
	}
	if !news {
		return nil
	}
	return e.release(ctx, given[0])
}

// release approves what is pending and covered now that a grant was given. Each
// request is evaluated again first, and has to meet the current policy.
func (e *Engine) release(ctx context.Context, given Grant) error {
	agent := given.Agent
	if given.Session == "" {
		agent = "" // of any session
	}
	ids, err := e.store.Pending(ctx, agent, given.Session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := e.store.Load(ctx, id)
		if ErrorCode(err) == CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if r.State.Final() || r.Interaction.Agent != given.Agent || id == given.Origin {
			continue
		}
		if r.Interaction.Redacted > 0 {
			continue // its exact request is not stored
		}
		now, err := e.rejudge(ctx, r)
		if err != nil {
			return err
		}
		if now.denied != nil || now.ruling.Effect != EffectAsk {
			continue
		}
		// It was asked under its own requirements, which may be stricter.
		asked, err := e.covering(ctx, r.Interaction)
		if err != nil {
			return err
		}
		i := now.now
		all, err := e.covering(ctx, i)
		if err != nil {
			return err
		}
		if len(asked) == 0 || len(all) == 0 {
			continue
		}
		resp := covered(i, all)
		resp.At = time.Now().UTC().Truncate(time.Millisecond)
		if _, _, err := e.store.Settle(ctx, Settlement{ID: id, Response: *resp, Nonce: "grant:" + string(given.Origin), Expect: &r.Amended}); err != nil {
			return err
		}
	}
	return nil
}
