package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// ballot makes the vote of an actor with a response.
func (e *Engine) ballot(ctx context.Context, i bridge.Interaction, actor bridge.Actor, r bridge.Response) (bridge.Ballot, error) {
	b := bridge.Ballot{ID: i.ID, Response: r, Nonce: nonce(actor, r), Vote: bridge.Vote{Actor: actor, State: r.State, Scope: r.Scope, Reason: r.Reason, At: r.At, Message: r.Message, Shown: proof.ShownHash(i)}}
	var err error
	b.Covers, err = e.covers(ctx, i, actor)
	return b, err
}

// vote counts a decision. It returns the record as it is then.
func (e *Engine) vote(ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response) (bridge.Record, bridge.BallotResult, error) {
	i := rec.Interaction
	b, err := e.ballot(ctx, i, actor, r)
	if err != nil {
		return rec, "", err
	}
	b.Expect = &rec.Amended
	got, result, err := e.store.Vote(ctx, b)
	if err != nil {
		return got, result, err
	}
	e.log.Info("voted", "id", i.ID, "vote", r.State, "result", result, "platform", actor.Platform, "user", actor.User)
	return got, result, nil
}

const noteVotedBefore = "Your vote is recorded already; somebody else has to answer too."

// stamped is a response as an actor's.
func stamped(actor bridge.Actor, i bridge.Interaction, r bridge.Response) bridge.Response {
	r.Actor, r.At, r.Digest = &actor, time.Now().UTC().Truncate(time.Millisecond), i.Digest
	if r.Annotations == nil {
		r.Annotations = map[string]bridge.Annotation{}
	}
	if r.State == bridge.StateApproved {
		r.Covers = i.Coverage(r.Scope)
	}
	return r
}
