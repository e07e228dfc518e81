package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

// maxDecided is the maximum number of closed requests in an overview.
// decidedLooked is the number of newest requests that nod searches for them.
const (
	maxDecided    = 8
	decidedLooked = 50
)

// Overview implements bridge.Desk.
func (d *Desk) Overview(ctx context.Context, actor bridge.Actor, n int) (bridge.Overview, error) {
	var o bridge.Overview
	who, _ := d.engine.People.Identify(ctx, actor)
	if err := d.waiting(ctx, actor, n, &o); err != nil {
		return o, err
	}
	if who.Person == "" {
		return o, nil // only people of the config have grants and a history
	}
	grants, err := d.grants.ListFor(ctx, actor)
	if err != nil {
		return o, err
	}
	o.Grants, o.Unreadable = grants.Items, o.Unreadable+grants.Unreadable
	o.Decided, err = d.decided(ctx, actor)
	return o, err
}

// waiting adds up to n pending requests for an actor.
func (d *Desk) waiting(ctx context.Context, actor bridge.Actor, n int, o *bridge.Overview) error {
	found, more, err := d.engine.Pending(ctx, n, func(r bridge.Record) (bool, error) {
		if r.Interaction.Kind == bridge.KindNotice {
			return false, nil
		}
		who, no := d.engine.People.Eligible(ctx, r.Interaction, actor)
		voted := slices.ContainsFunc(r.Votes, func(v bridge.Vote) bool { return v.Actor.Same(who) })
		return no.Why == "" && !voted, nil
	})
	if err != nil {
		return err
	}
	o.Waiting, o.More, o.Unreadable = make([]bridge.Waiting, len(found.Items)), more, found.Unreadable
	for k, r := range found.Items {
		if o.Waiting[k], err = d.shown(ctx, r, actor.Platform); err != nil {
			return err
		}
	}
	return nil
}

// shown returns a pending request as an overview on a platform lists it. The
// person can decide it there if the platform has a complete card.
func (d *Desk) shown(ctx context.Context, r bridge.Record, platform string) (bridge.Waiting, error) {
	for n, at := range r.Interaction.Destinations {
		ref, ok := r.Messages[n]
		if !ok || at.Platform != platform {
			continue
		}
		v, err := d.engine.View(ctx, r, n)
		return bridge.Waiting{View: v, Elsewhere: !engine.Shows(r, n), Card: ref}, err
	}
	v, err := d.engine.View(ctx, r, 0)
	return bridge.Waiting{View: v, Elsewhere: true}, err
}

// decided returns closed requests that an actor may read, newest first.
func (d *Desk) decided(ctx context.Context, actor bridge.Actor) ([]bridge.Record, error) {
	page, err := d.engine.List(ctx, bridge.ListFilter{Limit: decidedLooked})
	if err != nil {
		return nil, err
	}
	var out []bridge.Record
	for _, r := range page.Items {
		if !r.State.Final() || r.Interaction.Kind == bridge.KindNotice || len(out) == maxDecided {
			continue
		}
		if d.engine.People.MayRead(ctx, r.Interaction, actor) {
			out = append(out, r)
		}
	}
	return out, nil
}

// Changes implements bridge.Desk.
func (d *Desk) Changes(ctx context.Context) (string, error) {
	ids, err := d.records.Pending(ctx, "", "")
	if err != nil {
		return "", err
	}
	last, err := d.audit.Last(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, id := range ids {
		h.Write([]byte(id))
	}
	h.Write([]byte(" " + last))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// RevokeAs implements bridge.Desk.
func (d *Desk) RevokeAs(ctx context.Context, actor bridge.Actor, id string) (string, error) {
	who, _ := d.engine.People.Identify(ctx, actor)
	g, err := d.grants.RevokeAs(ctx, who, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return "This grant no longer exists, or you may not revoke it. Nothing was changed.", nil
	}
	if err != nil {
		return "", err
	}
	return revoked(g), nil
}

// revoked is the reply to a revocation.
func revoked(g bridge.Grant) string {
	return "Revoked. nod will ask again about the requests that this grant covered: " + g.Words()
}
