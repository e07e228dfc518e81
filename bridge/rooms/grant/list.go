package grant

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// List returns the grants of an agent, or of all agents if agent is empty,
// ordered by expiration.
func (gr *Room) List(ctx context.Context, agent string) (bridge.Page[bridge.Grant], error) {
	all, err := gr.store.All(ctx, agent)
	slices.SortFunc(all.Items, func(a, b bridge.Grant) int {
		if c := a.Expires.Compare(b.Expires); c != 0 {
			return c
		}
		return strings.Compare(a.ID(), b.ID())
	})
	return all, err
}

// ListFor returns the grants that a person may see and revoke: grants that the
// person gave, grants of a route where the person is a responder, and grants of
// an agent that the person owns.
func (gr *Room) ListFor(ctx context.Context, who bridge.Actor) (bridge.Page[bridge.Grant], error) {
	who, _ = gr.engine.People.Identify(ctx, who)
	all, err := gr.List(ctx, "")
	all.Items = slices.DeleteFunc(all.Items, func(g bridge.Grant) bool { return !gr.sees(ctx, g, who) })
	return all, err
}

func (gr *Room) sees(ctx context.Context, g bridge.Grant, who bridge.Actor) bool {
	if slices.ContainsFunc(g.Givers, who.Same) || g.Actor.Same(who) || gr.engine.People.Owns(bridge.Interaction{Agent: g.Agent}, who) {
		return true
	}
	for _, name := range append([]string{g.Route}, g.Routes...) {
		route := gr.engine.Routes()[name] // empty if the route no longer exists
		if in, _ := gr.engine.People.Among(ctx, route.Responders, route.Groups, who); in {
			return true
		}
	}
	return false
}

// RevokeAs revokes a grant on behalf of a person. It returns CodeNotFound for a
// grant that the person may not see.
func (gr *Room) RevokeAs(ctx context.Context, who bridge.Actor, id string) (bridge.Grant, error) {
	all, err := gr.ListFor(ctx, who)
	if err != nil {
		return bridge.Grant{}, err
	}
	n := slices.IndexFunc(all.Items, func(g bridge.Grant) bool { return g.ID() == id })
	if n < 0 {
		return bridge.Grant{}, noGrant(id)
	}
	return gr.Revoke(ctx, all.Items[n].Agent, id, who.Display())
}

func noGrant(id string) error {
	return bridge.Errorf(bridge.CodeNotFound, "grant %q not found", id).WithHint("run nod grants list")
}

// Revoke ends a grant of an agent, or of any agent if agent is empty. People
// are then asked again about requests that it covered. It returns CodeNotFound
// if the grant does not exist.
func (gr *Room) Revoke(ctx context.Context, agent, id, by string) (bridge.Grant, error) {
	all, err := gr.store.All(ctx, agent)
	if err != nil {
		return bridge.Grant{}, err
	}
	n := slices.IndexFunc(all.Items, func(g bridge.Grant) bool { return g.ID() == id })
	if n < 0 {
		return bridge.Grant{}, noGrant(id)
	}
	g := all.Items[n]
	about := bridge.Interaction{Agent: g.Agent, Ask: bridge.Ask{Session: g.Session}}
	entry, err := gr.engine.Journal.Entry(bridge.AuditRevoke, about, bridge.Revocation{Grant: g, By: by})
	if err != nil {
		return bridge.Grant{}, err
	}
	if _, err := gr.store.Revoke(ctx, g, entry); err != nil {
		return bridge.Grant{}, err
	}
	gr.log.Info("grant revoked", "grant", id, "agent", g.Agent, "by", by, "origin", g.Origin)
	return g, nil
}
