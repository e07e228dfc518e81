package grant

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Also stores the grants that an approval creates, with their entries of the audit log, in
// the change that stores the approval. If a failover lost the approval, a repeat stores only
// grants that were lost with it, and never a revoked one.
func (gr *Room) Also(ctx context.Context, r bridge.Record) (broker.Change, error) {
	var c broker.Change
	for _, g := range r.Given() {
		more, err := gr.store.Give(ctx, g)
		if err != nil {
			return c, err
		}
		if more.Empty() {
			continue
		}
		entry, err := gr.engine.Journal.Entry(bridge.AuditGrant, r.Interaction, g)
		if err != nil {
			return c, err
		}
		more.Journal = append(more.Journal, entry)
		c = c.With(more)
	}
	return c, nil
}

// Resolve approves the pending requests that the grants of an approval cover. It is safe to
// repeat.
func (gr *Room) Resolve(ctx context.Context, r bridge.Record) error {
	if given := r.Given(); len(given) > 0 {
		return gr.release(ctx, given[0])
	}
	return nil
}

// release approves the pending requests that a new grant covers. Each is
// evaluated again first, and must meet the current policy. A request that cannot be
// read or evaluated now stays pending, and does not hold up the others. nod does not try
// again: a person decides it, or its deadline.
func (gr *Room) release(ctx context.Context, given bridge.Grant) error {
	agent := given.Agent
	if given.Session == "" {
		agent = "" // grants of any session
	}
	ids, err := gr.records.Pending(ctx, agent, given.Session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := gr.releaseOne(ctx, id, given); err != nil {
			gr.log.Warn("pending request not approved by a new grant", "id", id, "grant", given.ID(), "error", err)
		}
	}
	return nil
}

// releaseOne approves a pending request if grants cover it both with its stored
// requirements, which may be stricter, and under the current policy.
func (gr *Room) releaseOne(ctx context.Context, id bridge.ID, given bridge.Grant) error {
	r, err := gr.records.Load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if r.State.Final() || r.Interaction.Agent != given.Agent || id == given.Origin {
		return nil
	}
	if r.Interaction.Redacted > 0 {
		return nil // the exact request is not stored
	}
	now, err := gr.engine.Rejudge(ctx, r)
	if engine.Unapprovable(err) != "" {
		return nil // a person is told why at the next click
	}
	if err != nil || now.Denied != nil || now.Ruling.Effect != bridge.EffectAsk {
		return err
	}
	asked, err := gr.covering(ctx, r.Interaction)
	if err != nil || len(asked) == 0 {
		return err
	}
	i := now.Now
	all, err := gr.covering(ctx, i)
	if err != nil || len(all) == 0 {
		return err
	}
	resp := covered(i, all)
	resp.At = time.Now().UTC().Truncate(time.Millisecond)
	_, _, err = gr.records.Resolve(ctx, life.Resolution{
		ID: id, Response: *resp, Nonce: "grant:" + string(given.Origin), Expect: &r.Amended,
	}, gr.engine.Also, func(ctx context.Context, _ bridge.Record) (broker.Change, error) { return gr.unrevoked(ctx, i, all) })
	if errors.Is(err, errRevoked) {
		return nil
	}
	return err
}

// errRevoked is the error of an approval by grants that were revoked in the meantime.
var errRevoked = errors.New("a grant was revoked")

// unrevoked returns the condition that grants which cover a request are not revoked.
func (gr *Room) unrevoked(ctx context.Context, i bridge.Interaction, all []Held) (broker.Change, error) {
	now, err := gr.store.Covering(ctx, i.Agent, i.Session, i.GrantKeys())
	if err != nil {
		return broker.Change{}, err
	}
	if slices.ContainsFunc(all, func(g Held) bool {
		return !slices.ContainsFunc(now, func(h Held) bool { return h.At == g.At })
	}) {
		return broker.Change{}, errRevoked
	}
	return broker.Change{If: versions(all)}, nil
}
