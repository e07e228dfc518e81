package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// vote records a decision as a vote. It returns the record afterward.
func (s *settler) vote(ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response) (bridge.Record, bridge.BallotResult, error) {
	i := rec.Interaction
	b, err := s.ballot(ctx, i, actor, r)
	if err != nil {
		return rec, "", err
	}
	b.Expect, b.Known = &rec.Amended, &rec
	got, result, err := s.outcomes.Vote(ctx, b)
	if err != nil {
		return got, result, err
	}
	s.log.Info("voted", "id", i.ID, "vote", r.State, "result", result, "platform", actor.Platform, "user", actor.User)
	return got, result, nil
}

// ballot returns the vote of an actor for a response.
func (s *settler) ballot(ctx context.Context, i bridge.Interaction, actor bridge.Actor, r bridge.Response) (bridge.Ballot, error) {
	b := bridge.Ballot{ID: i.ID, Response: r, Nonce: nonce(actor, r), Vote: bridge.Vote{
		Actor: actor, State: r.State, Scope: r.Scope, Reason: r.Reason, At: r.At, Message: r.Message, Shown: proof.ShownHash(i),
		Assurance: r.Assurance, Assertion: r.Assertion,
	}}
	b.Response.Assertion = nil // each vote has its own
	var err error
	b.Covers, err = s.people.covers(ctx, i, actor)
	return b, err
}
