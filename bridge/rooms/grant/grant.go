// Package grant is the room for grants (standing approvals). An approval
// creates grants, which answer later requests that they cover. The room also
// stores the scopes that tools remember. It does not decide who may approve.
// Start with [Room.Open] and [Room.Also].
package grant

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/broker"
)

// Room finds the grants that cover a request, stores the grants that an approval
// creates, and lists and revokes them. It is safe for concurrent use.
type Room struct {
	engine  *engine.Engine
	store   *Grants
	memory  memory
	records core.Interactions
	log     *slog.Logger
}

// New returns the room of an engine.
func New(e *engine.Engine, o engine.Options) *Room {
	db := documents.DB{Store: o.DB, Log: o.Log}
	return &Room{engine: e, store: NewGrants(db), memory: memory{db}, records: o.Store, log: o.Log}
}

// Open answers a request that grants cover, if none of them is revoked before it is stored.
func (gr *Room) Open(ctx context.Context, d *engine.Draft) error {
	all, err := gr.covering(ctx, d.Interaction)
	if err != nil || len(all) == 0 {
		return err
	}
	d.Response = covered(d.Interaction, all)
	d.If = append(d.If, versions(all)...)
	return nil
}

// versions returns the versions of grants, as conditions.
func versions(all []Held) []broker.Version {
	out := make([]broker.Version, len(all))
	for n, g := range all {
		out[n] = g.At
	}
	return out
}

// covering returns the grants that together cover an interaction: a grant for
// the exact request, or a grant for each rule that a part of the request
// requires. It returns none if any part is not covered under the current
// requirements.
func (gr *Room) covering(ctx context.Context, i bridge.Interaction) ([]Held, error) {
	keys := i.GrantKeys()
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := gr.store.Covering(ctx, i.Agent, i.Session, keys)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	holding := map[string]Held{}
	for _, g := range found {
		if _, known := holding[g.Key]; !known && gr.holds(ctx, g.Grant, i) {
			holding[g.Key] = g
		}
	}
	if g, ok := holding[i.GrantKey]; ok {
		return []Held{g}, nil
	}
	var all []Held
	for _, key := range i.GrantKeys()[1:] {
		g, ok := holding[key]
		if !ok {
			return nil, nil
		}
		all = append(all, g)
	}
	return all, nil
}

// holds reports whether a grant meets all current requirements of an
// interaction. The store finds grants by their keys; holds compares everything
// else. If something cannot be checked, the grant does not hold.
func (gr *Room) holds(ctx context.Context, g bridge.Grant, i bridge.Interaction) bool {
	if !applies(g, i) {
		return false
	}
	return gr.enough(ctx, i, g.Givers)
}

// applies reports whether a grant meets the requirements of an interaction,
// apart from the people who gave it.
func applies(g bridge.Grant, i bridge.Interaction) bool {
	ends, a := g.Expires, i.Approval
	if i.GrantFor > 0 && g.At.Add(time.Duration(i.GrantFor)).Before(ends) {
		ends = g.At.Add(time.Duration(i.GrantFor)) // the policy has shortened the lifetime
	}
	switch {
	case g.Agent != i.Agent || g.Session != "" && g.Session != i.Session || g.Where != a.Where:
		return false
	case !time.Now().Before(ends) || !slices.Contains(a.Scopes, g.Scope()):
		return false
	case !i.StepUp.Accepts(g.Assurance), a.Confirm != "" && a.Confirm != g.Confirm, i.Risk != "" && i.Risk != g.Risk:
		return false
	}
	return len(bridge.Missing(g.Routes, i.GrantRoutes)) == 0
}

// enough reports whether the approvals of these people would approve the
// interaction now. Each of them must still be able to approve. If one of them
// cannot, or if that is unknown, people are asked again.
func (gr *Room) enough(ctx context.Context, i bridge.Interaction, givers []bridge.Actor) bool {
	var counted []bridge.Actor
	slots := i.Slots()
	for _, giver := range givers {
		who, no := gr.engine.People.Eligible(ctx, i, giver)
		if no.Why == people.WhyUnread {
			gr.log.Warn("grant not used, because the people who gave it cannot be looked up", "person", who.Display(), "unread", no.Unread)
		}
		if no.Why != "" || who.Person != giver.Person {
			return false // the account now belongs to another person, or the person can no longer approve
		}
		if slices.ContainsFunc(counted, who.Same) {
			continue
		}
		counted = append(counted, who)
		covers, _ := gr.engine.People.Covers(ctx, i, who, time.Now())
		for _, n := range covers {
			slots[n]--
		}
	}
	open := slices.ContainsFunc(slots, func(left int) bool { return left > 0 })
	return len(counted) >= i.Needs() && !open
}

// covered returns the response to an interaction that grants cover.
func covered(i bridge.Interaction, all []Held) *bridge.Response {
	actor := all[0].Actor
	r := &bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeAlways, Actor: &actor, At: i.Created, Digest: i.Digest, Grant: all[0].Origin, Annotations: map[string]bridge.Annotation{},
	}
	var origins []string
	for _, g := range all {
		if g.Scope() == bridge.ScopeSession {
			r.Scope = bridge.ScopeSession
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
