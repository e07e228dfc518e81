package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// answerRemembered applies a reply that decides a plain approval to the request
// as this daemon remembers it, without reading it. The store refuses the decision
// if the request was amended or closed since. It returns false if anything speaks
// against the decision. Then it has changed nothing, and the stored request has
// to be read.
func (cl *clicks) answerRemembered(
	ctx context.Context, id bridge.ID, actor bridge.Actor, reply bridge.Reply,
) (bridge.Record, bool, error) {
	known := cl.recent.get(id)
	if known == nil || !plainApproval(*known) || len(reply.Input)+len(reply.Answers)+len(reply.Others) > 0 || actor.Person == "" {
		return bridge.Record{}, false, nil
	}
	rec := *known
	_, why, err := cl.people.eligible(ctx, rec.Interaction, actor)
	if err != nil || why != "" || unfitReply(rec, reply) != nil {
		return rec, false, nil //nolint:nilerr // the usual path meets the error again
	}
	r, problem, err := decide(rec.Interaction, reply.Decision, bridge.Given{Reason: reply.Reason, Confirm: reply.Confirm})
	if err != nil || problem != "" {
		return rec, false, nil //nolint:nilerr // the usual path meets the error again
	}
	if r.State == bridge.StateApproved && (!cl.settler.evaluator.unchanged(rec) || rec.Unproven(actor, r)) {
		return rec, false, nil
	}
	got, result, err := cl.settler.settleOne(ctx, actor, rec, r)
	if code := bridge.ErrorCode(err); code == bridge.CodeConflict || code == bridge.CodeNotFound {
		return rec, false, nil
	}
	return got, err != nil || result == bridge.BallotDecided, err
}
