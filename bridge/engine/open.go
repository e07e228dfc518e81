// Path of a request: requests.go of bridge/api → this file, with compose.go → rooms.go of
// bridge/rooms, and back → open.go of bridge/core.

package engine

import (
	"context"
	"errors"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/proof"
)

// open implements Engine.Open. It builds the interaction, lets the openers take
// part, and stores it.
func (op *Openings) open(ctx context.Context, agent bridge.Agent, r bridge.Request, key string) (bridge.Record, error) {
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	if err := bridge.CheckText("Idempotency-Key", key, 200); err != nil {
		return bridge.Record{}, err
	}
	identity, err := identify(agent, r, key, "")
	if err != nil {
		return bridge.Record{}, err
	}
	if err := op.permit(ctx, agent, &r); err != nil {
		return bridge.Record{}, err
	}
	i, ruling, err := op.composer.prepare(ctx, agent, r)
	if err != nil {
		return bridge.Record{}, err
	}
	if r.Gate != "" {
		if rec, isLeft, err := op.ungated(ctx, i, ruling); isLeft || err != nil {
			return rec, err
		}
		if err := op.countRequest(ctx, agent); err != nil {
			return bridge.Record{}, err
		}
	}
	if i.ID, err = bridge.NewID(); err != nil {
		return bridge.Record{}, err
	}
	d := Draft{Opening: opening(i, identity), Ruling: ruling, OnlyRules: r.OnlyRules, Now: r.Now}
	d.Awaited, d.MaxPending, d.sameTool = r.Awaited, agent.MaxPending, r.SameTool
	if r.OneAtATime {
		return op.askAndStore(ctx, d, op.alone)
	}
	return op.askAndStore(ctx, d, op.store)
}

// openTries is the maximum number of times that the openers run because a
// document on which they relied has changed.
const openTries = 5

// askAndStore runs the openers and stores the request. If a document on which they
// relied has changed by then, it starts again with the first opener.
func (op *Openings) askAndStore(
	ctx context.Context, draft Draft, store func(context.Context, *Draft) (bridge.Record, error),
) (rec bridge.Record, err error) {
	for try := range openTries {
		d := draft
		d.Again = try > 0
		if err := op.seams.open(ctx, &d); err != nil {
			return bridge.Record{}, err
		}
		if rec, err = store(ctx, &d); !errors.As(err, new(*core.ChangedError)) {
			return rec, err
		}
	}
	return rec, bridge.Wrap(bridge.CodeUnavailable, err, "the request cannot be stored").WithHint("try again")
}

// identify returns the identity of the call that sends a request. For a
// follow-up, previous is the interaction of the previous round.
func identify(agent bridge.Agent, r bridge.Request, key string, previous bridge.ID) (bridge.Identity, error) {
	c := r.CallID
	c.Key = key
	digest, err := proof.CallDigest(r.Ask, previous)
	return c.Identity(agent.Name, r.Session, digest), err
}

// Ruled answers a request that the policy or the agent decides.
func (op *Openings) Ruled(_ context.Context, d *Draft) error {
	i := d.Interaction
	if d.OnlyRules && !d.Ruling.Demands() {
		d.Response = left(i)
		return nil
	}
	d.Response = ruled(i, d.Ruling)
	return nil
}

// Reached determines who can be reached, and how. A follow-up in the same
// messages reaches the people of the previous round.
func (op *Openings) Reached(ctx context.Context, d *Draft) error {
	if d.Interaction.Root == "" {
		return op.reach.findPeople(ctx, &d.Opening, d.Now)
	}
	var err error
	if d.FrontEnds, err = op.reach.presence.answers(ctx, d.Interaction.Session); err != nil {
		return err
	}
	d.Failures, err = op.reach.failures(d.Interaction)
	return err
}

// opening returns the arguments for storing an interaction, without the
// reachability.
func opening(i bridge.Interaction, id bridge.Identity) life.Opening {
	i.RequestKey = id.Key
	return life.Opening{Interaction: i, Identity: id}
}

// store stores a request after the openers, with the digest of the content that a
// card has to show before anyone can approve it.
func (op *Openings) store(ctx context.Context, d *Draft) (bridge.Record, error) {
	o := d.Opening
	content, err := proof.Content(o.Interaction)
	if err != nil {
		return bridge.Record{}, err
	}
	o.Interaction.Content = content
	i := o.Interaction
	rec, created, err := op.records.Open(ctx, o, d.If...)
	if err == nil && created {
		op.log.Info("opened", "id", i.ID, "kind", i.Kind, "agent", i.Agent, "state", rec.State, "destinations", len(i.Destinations), "round", i.Round)
	}
	if err != nil {
		return rec, err
	}
	return rec, rec.Trusted()
}
