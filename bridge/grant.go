package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxCovers bounds how much of an input a grant repeats, in characters.
const maxCovers = 200

// grantKey is the key under which a standing yes covers the approval: the
// tool's own, or the input itself; in its place alone, where that is known.
func (a Approval) grantKey() string {
	key := a.Key
	if key == "" {
		key = hashed(a.Tool + "\x00" + string(a.Input))
	}
	return key
}

// hashed stands for a key that can not be kept as it is.
func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// inPlace binds a grant's key to where it is used.
func inPlace(key, where string) string {
	if where == "" {
		return key
	}
	sum := sha256.Sum256([]byte(where))
	return key + " @" + hex.EncodeToString(sum[:8])
}

// covers says what a standing yes to the approval permits: every request with
// the same key, else this very input.
func (a Approval) covers() string {
	if a.Key != "" {
		return shortened(a.Key)
	}
	return shortened(string(a.Input))
}

func shortened(s string) string {
	if utf8.RuneCountInString(s) > maxCovers {
		s = string([]rune(s)[:maxCovers-1]) + "…"
	}
	return s
}

// grantable says under which key a standing yes covers an interaction, what it
// permits in words, and for how long at most.
func (i *Interaction) grantable(r Ruling) {
	a := i.Approval
	i.RuleGrants, i.GrantFor = r.Grants, r.GrantFor
	if len(r.Grants) > 0 {
		i.GrantKey, i.Covers = r.Grants[0].Key, r.Grants[0].Covers
	}
	if i.GrantKey == "" {
		i.GrantKey = a.grantKey()
	}
	i.GrantKey = inPlace(i.GrantKey, a.Where)
}

// granted is the response of a standing yes that covers an interaction; nil
// where there is none. What the policy asks for now counts: a grant of a scope
// that is no longer on offer, or by fewer people than are needed now, covers
// nothing.
func (e *Engine) granted(ctx context.Context, i Interaction) (*Response, error) {
	if i.Approval == nil {
		return nil, nil
	}
	g, ok, err := e.store.Grant(ctx, i.Agent, i.Session, i.GrantKey)
	if err != nil || !ok || !e.checkGrant(g) || !g.isFor(i) || !g.holds(i) {
		return nil, err
	}
	return g.response(i), nil
}

// holds reports whether the grant is one that the interaction accepts.
func (g Grant) holds(i Interaction) bool {
	return slices.Contains(i.Approval.Scopes, g.scope()) && max(g.Quorum, 1) >= i.needs()
}

func (g Grant) scope() Scope {
	if g.Session != "" {
		return ScopeSession
	}
	return ScopeAlways
}

func (g Grant) response(i Interaction) *Response {
	actor := g.Actor
	return &Response{
		State: StateApproved, Scope: g.scope(), Actor: &actor, At: i.Created, Digest: i.Digest, Grant: g.Origin,
		Annotations: map[string]Annotation{}, Reason: "covered by the grant given in " + string(g.Origin),
	}
}

// remember stores the grant that an approval gave, if it gave one, and
// releases what it covers and waits. Repeats are harmless: a grant that was
// revoked since is not given again.
func (e *Engine) remember(ctx context.Context, r Record) error {
	if r.State != StateApproved || r.Response == nil || r.Response.Actor == nil || r.Response.Grant != "" {
		return nil
	}
	i := r.Interaction
	g := Grant{Agent: i.Agent, Session: i.Session, Key: i.GrantKey, Actor: *r.Response.Actor, Origin: i.ID, Tool: i.Approval.Tool, Covers: i.Covers, Where: i.Approval.Where, Route: i.Route, Quorum: i.needs()}
	longest := SessionGrantTTL
	switch r.Response.Scope {
	case ScopeSession:
	case ScopeAlways:
		g.Session, longest = "", AlwaysGrantTTL
	default:
		return nil
	}
	g.Expires = r.Response.At.Add(Ruling{GrantFor: i.GrantFor}.grantTTL(longest))
	e.proveGrant(&g)
	given, err := e.store.PutGrant(ctx, g)
	if err != nil || !given {
		return err
	}
	if err := e.audit(ctx, AuditGrant, i, g); err != nil {
		e.log.Error("grant not in the audit log", "id", i.ID, "error", err)
	}
	return e.release(ctx, g)
}

// release answers what is pending and covered by a new grant.
func (e *Engine) release(ctx context.Context, g Grant) error {
	agent := g.Agent
	if g.Session == "" {
		agent = "" // of any session
	}
	ids, err := e.store.Pending(ctx, agent, g.Session)
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
		i := r.Interaction
		if r.State.Final() || i.Agent != g.Agent || i.Approval == nil || i.GrantKey != g.Key || i.ID == g.Origin || !g.holds(i) {
			continue
		}
		resp := g.response(i)
		resp.At = time.Now().UTC().Truncate(time.Millisecond)
		if _, _, err := e.store.Settle(ctx, Settlement{ID: id, Response: *resp, Nonce: "grant:" + string(g.Origin)}); err != nil {
			return err
		}
	}
	return nil
}

// needs is how many people have to approve.
func (i Interaction) needs() int { return max(i.Quorum, 1) }

// ID names the grant to people: the same for as long as it is given again.
func (g Grant) ID() string {
	sum := sha256.Sum256([]byte(g.Agent + "\x00" + g.Session + "\x00" + g.Key))
	return hex.EncodeToString(sum[:6])
}

// Words say what the grant permits to whom, until when, and who gave it.
func (g Grant) Words() string {
	var b strings.Builder
	b.WriteString(g.Agent + " may use " + g.Tool)
	if g.Covers != "" {
		b.WriteString(" for " + oneLine(g.Covers))
	}
	if g.Where != "" {
		b.WriteString(" in " + oneLine(g.Where))
	}
	if g.Session != "" {
		b.WriteString(" in session " + g.Session)
	}
	b.WriteString(" until " + g.Expires.UTC().Format("2006-01-02 15:04 UTC") + ", by " + g.Actor.Display())
	return b.String()
}

// Grants lists the standing yeses of an agent, or of all with an empty name,
// the one that ends first first.
func (e *Engine) Grants(ctx context.Context, agent string) ([]Grant, error) {
	all, err := e.store.Grants(ctx, agent)
	all = slices.DeleteFunc(all, func(g Grant) bool { return !e.checkGrant(g) })
	slices.SortFunc(all, func(a, b Grant) int {
		if c := a.Expires.Compare(b.Expires); c != 0 {
			return c
		}
		return strings.Compare(a.ID(), b.ID())
	})
	return all, err
}

// Revoke ends a grant, named by its ID, of an agent or of any with an empty
// name. What is asked from then on is asked again; CodeNotFound where there is
// none.
func (e *Engine) Revoke(ctx context.Context, agent, id, by string) (Grant, error) {
	all, err := e.store.Grants(ctx, agent)
	if err != nil {
		return Grant{}, err
	}
	n := slices.IndexFunc(all, func(g Grant) bool { return g.ID() == id })
	if n < 0 {
		return Grant{}, Errorf(CodeNotFound, "there is no grant %q", id).WithHint("see them with: nod grants list")
	}
	if _, err := e.store.DropGrant(ctx, all[n]); err != nil {
		return Grant{}, err
	}
	g := all[n]
	if err := e.audit(ctx, AuditRevoke, Interaction{Agent: g.Agent, Session: g.Session}, Revocation{Grant: g, By: by}); err != nil {
		e.log.Error("revocation not in the audit log", "grant", id, "error", err)
	}
	e.log.Info("grant revoked", "grant", id, "agent", all[n].Agent, "by", by, "origin", all[n].Origin)
	return all[n], nil
}
