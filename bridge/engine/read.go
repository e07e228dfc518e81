package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// MayRead reports whether a person may read a request: as one of its
// responders, as its requester, or as an owner of its agent.
func (e *Engine) MayRead(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bool, error) {
	actor, why, err := e.eligible(ctx, i, actor)
	if err != nil || why != whyNobody {
		return err == nil, err
	}
	behind := slices.Contains(i.Requesters, actor.Person) || i.Requester == actor.Person || e.owns(i, actor)
	return actor.Person != "" && behind, nil
}

// owns reports whether an actor is an owner of the agent of a request.
func (e *Engine) owns(i bridge.Interaction, actor bridge.Actor) bool {
	return actor.Person != "" && slices.Contains(e.agentOf(i).Owners, actor.Person)
}

// Withdraw cancels a pending request as a person: one of its responders, or an
// owner of its agent. Others get CodeNotFound if they may not read it either,
// and CodeForbidden if they may.
func (e *Engine) Withdraw(ctx context.Context, id bridge.ID, by bridge.Actor, reason string) (bridge.Record, error) {
	if err := bridge.CheckText("reason", reason, bridge.MaxText); err != nil {
		return bridge.Record{}, err
	}
	r, err := e.store.Load(ctx, id)
	if err != nil {
		return r, err
	}
	may, err := e.MayRead(ctx, r.Interaction, by)
	if err != nil {
		return bridge.Record{}, err
	}
	if !may {
		e.refuse(ctx, r.Interaction, by, whyNobody)
		return bridge.Record{}, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", id)
	}
	actor, why, err := e.eligible(ctx, r.Interaction, by)
	if err != nil {
		return bridge.Record{}, err
	}
	if why == whyNobody && !e.owns(r.Interaction, actor) {
		e.refuse(ctx, r.Interaction, actor, why)
		return bridge.Record{}, bridge.Errorf(bridge.CodeForbidden, "you cannot withdraw this: %s", why).
			WithHint("ask a responder or an owner of the agent: %s", responderNames(r.Interaction))
	}
	if r.State.Final() {
		return r, nil
	}
	r, _, err = e.store.Settle(ctx, bridge.Settlement{ID: id, Nonce: "withdrawn by " + actor.Voter(), Response: bridge.Response{
		State: bridge.StateCancelled, Reason: e.veilText(reason), WithdrawnBy: &actor, Annotations: map[string]bridge.Annotation{},
		At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
	}})
	return r, err
}
