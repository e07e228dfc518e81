package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// ID names the grant to people: the same for as long as it is given again.
func (g Grant) ID() string {
	sum := sha256.Sum256([]byte(g.Agent + "\x00" + g.Session + "\x00" + g.Key))
	return hex.EncodeToString(sum[:6])
}

// Words state what the grant covers, until when, and who gave it.
func (g Grant) Words() string {
	var givers []string
	for _, a := range g.Givers {
		givers = append(givers, readable(oneLine(a.Display())))
	}
	if !g.current() {
		return readable(oneLine(g.Agent)) + ": this grant of an earlier version of nod covers nothing. It was given by " + readable(oneLine(g.Actor.Display())) + " for the tool " + quoted(g.Tool) + "."
	}
	return g.Covers + " Given by " + strings.Join(givers, ", ") + " until " + g.Expires.UTC().Format("2006-01-02 15:04 UTC") + "."
}

// Grants lists the grants of an agent, or of all with an empty name, ordered by
// when they end.
func (e *Engine) Grants(ctx context.Context, agent string) ([]Grant, error) {
	all, err := e.store.Grants(ctx, agent)
	// What was written outside nod covers nothing.
	all = slices.DeleteFunc(all, func(g Grant) bool { return e.checkGrant(g) != nil })
	slices.SortFunc(all, func(a, b Grant) int {
		if c := a.Expires.Compare(b.Expires); c != 0 {
			return c
		}
		return strings.Compare(a.ID(), b.ID())
	})
	return all, err
}

// Revoke ends a grant, named by its ID, of an agent or of any with an empty
// name. Requests that it covered are asked again. It returns CodeNotFound if
// there is no such grant.
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
