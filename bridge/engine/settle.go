// Path of a click: click_check.go → this file → settle_check.go.

package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// concludeTries is the maximum number of checks of a decision if the request is
// amended in the meantime.
const concludeTries = 5

// Conclude makes a person's decision final, or records it as a vote, if the
// current config allows it. Otherwise nothing is approved, and it returns the
// reply to the person. The record is the one that the person saw. The decision
// is stored only if the request was not amended since the checks read it.
// Otherwise, all checks start again, so all checks rely on the same state.
func (s *Decisions) Conclude(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (got bridge.Record, result core.BallotResult, refusal *bridge.Verdict, err error) {
	saw := rec.Interaction
	for range concludeTries {
		d := Decision{actor, rec, r, saw.Content}
		if refusal, err = checked(ctx, s.seams.Decisions, &d); refusal != nil {
			return d.Record, "", refusal, err
		}
		if err == nil {
			got, result, err = s.settle(ctx, Decision{actor, rec, r, saw.Content})
		}
		if bridge.ErrorCode(err) != bridge.CodeConflict {
			return got, result, nil, err
		}
		if rec, err = s.records.Load(ctx, saw.ID); err != nil {
			return rec, "", nil, err
		}
		if actor, refusal = s.admitAgain(ctx, actor, rec, r); refusal != nil {
			return rec, "", refusal, nil
		}
	}
	return rec, "", nil, bridge.Errorf(bridge.CodeUnavailable, "the request keeps changing").WithHint("try again")
}

// Decision is a person's decision during its checks. A check that changes the
// request returns CodeConflict, so the checks start again with the changed
// request, or it refuses the decision and sets Record to the changed request.
type Decision struct {
	Actor    bridge.Actor
	Record   bridge.Record
	Response bridge.Response
	saw      string // Interaction.Content that the person saw
}

// Decides reports whether the decision approves or answers a pending request.
// Other decisions need no check of the config.
func (d *Decision) Decides() bool {
	return !d.Record.State.Final() && (d.Response.State == bridge.StateApproved || d.Response.State == bridge.StateAnswered)
}

// settle records the response of a person: as a vote if the approval counts votes,
// and as the decision otherwise. After a decision, the resolvers follow up.
func (s *Decisions) settle(ctx context.Context, d Decision) (got bridge.Record, result core.BallotResult, err error) {
	i, r := d.Record.Interaction, stamped(d.Actor, d.Record.Interaction, d.Response)
	if i.Kind == bridge.KindApproval && i.Counted() {
		got, result, err = s.vote(ctx, d, r)
	} else {
		won := false
		result = core.BallotLate
		got, won, err = s.records.Resolve(ctx, life.Resolution{ID: i.ID, Response: r, Nonce: nonce(d.Actor, r), Expect: &d.Record.Amended}, s.seams.also)
		if won {
			result = core.BallotDecided
		}
	}
	if err != nil || result != core.BallotDecided {
		return got, result, err
	}
	s.log.Info("settled", "id", i.ID, "state", got.State, "platform", d.Actor.Platform, "user", d.Actor.User)
	s.seams.resolved(ctx, got, s.log)
	return got, result, nil
}
