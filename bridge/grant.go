package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxCovers bounds how much of an input a grant repeats, in characters.
const maxCovers = 200

// covers says what a standing yes to the approval permits: every request with
// the same key, else this very input.
func (a Approval) covers() string {
	s := string(a.Input)
	if a.Key != "" {
		s = a.Key
	}
	if utf8.RuneCountInString(s) > maxCovers {
		s = string([]rune(s)[:maxCovers-1]) + "…"
	}
	return s
}

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
