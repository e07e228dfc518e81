// Package grant handles grants (standing approvals): an approval creates
// grants, and grants answer later requests that they cover. It does not decide
// who may approve. The store deletes grants when they expire. Start with
// [Room.Open] and [Room.Resolve].
package grant

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/people"
)

// Room finds the grants that cover a request, stores the grants that an approval
// creates, and lists and revokes them. It is safe for concurrent use.
type Room struct {
	engine   *engine.Engine
	store    bridge.Grants
	records  bridge.Records
	outcomes bridge.Outcomes
	log      *slog.Logger
}

// New returns the room of an engine.
func New(e *engine.Engine, o engine.Options) *Room {
	return &Room{engine: e, store: o.Store, records: o.Store, outcomes: o.Store, log: o.Log}
}

// Open answers a request that grants cover.
func (gr *Room) Open(ctx context.Context, d *engine.Draft) error {
	if all := gr.coveringOf(ctx, d.Interaction, d.Setting.Grants); len(all) > 0 {
		d.Response = covered(d.Interaction, all)
	}
	return nil
}

// covering returns the grants that together cover an interaction: one grant of
// the exact request, or one grant for each required rule. It returns none if
// any part is not covered under the current requirements.
func (gr *Room) covering(ctx context.Context, i bridge.Interaction) ([]bridge.Grant, error) {
	keys := i.GrantKeys()
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := gr.store.Covering(ctx, i.Agent, i.Session, keys)
	if err != nil {
		return nil, err
	}
	return gr.coveringOf(ctx, i, found), nil
}

// coveringOf is covering for the stored grants under the keys.
func (gr *Room) coveringOf(ctx context.Context, i bridge.Interaction, found []bridge.Grant) []bridge.Grant {
	if len(found) == 0 {
		return nil
	}
	holding := map[string]bridge.Grant{}
	for _, g := range found {
		if _, known := holding[g.Key]; !known && gr.holds(ctx, g, i) {
			holding[g.Key] = g
		}
	}
	if g, ok := holding[i.GrantKey]; ok {
		return []bridge.Grant{g}
	}
	var all []bridge.Grant
	for _, key := range i.GrantKeys()[1:] {
		g, ok := holding[key]
		if !ok {
			return nil
		}
		all = append(all, g)
	}
	return all
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
		ends = g.At.Add(time.Duration(i.GrantFor)) // the policy has shortened it
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
			return false // the account belongs to another person now, or the person cannot approve
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
func covered(i bridge.Interaction, all []bridge.Grant) *bridge.Response {
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
