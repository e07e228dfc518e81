package engine

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// voteTries is the maximum number of attempts to record a vote. An attempt
// fails if another vote was recorded first.
const voteTries = 256

// Vote implements Outcomes. It counts the proven votes, and signs the decision
// only if this vote decides. The store accepts the vote only if no other vote
// came first, so that the signed votes are the stored ones.
func (s provenOutcomes) Vote(ctx context.Context, b bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	b.Vote.Covers = b.Covers
	s.p.ProveVote(b.ID, &b.Vote)
	for range voteTries {
		rec, err := s.counted(ctx, b)
		if err != nil || rec.Unverified != "" {
			return rec, bridge.BallotLate, err
		}
		try := b
		b.Known = nil // if it is out of date, the next attempt loads the record
		try.Known, try.Revision = &rec, rec.Revision
		if !rec.State.Final() {
			after := rec
			after.Votes = append(slices.DeleteFunc(slices.Clone(rec.Votes), func(v bridge.Vote) bool { return v.SameVoter(b.Vote) }), b.Vote)
			if err := s.proveCount(after, &try.Response); err != nil {
				return rec, "", err
			}
		}
		got, result, err := s.Outcomes.Vote(ctx, try)
		if err == nil && result == bridge.BallotChanged {
			continue
		}
		return s.p.Checked(got), result, err
	}
	return bridge.Record{}, "", bridge.Errorf(bridge.CodeUnavailable, "the votes on interaction %s keep changing", b.ID).WithHint("click again")
}

// counted returns the record whose votes a ballot counts: the one that its caller
// has loaded, if it still verifies, or else the stored one.
func (s provenOutcomes) counted(ctx context.Context, b bridge.Ballot) (bridge.Record, error) {
	if b.Known != nil && b.Known.Interaction.ID == b.ID {
		if rec, err := s.checked(*b.Known, nil); err == nil && rec.Unverified == "" {
			return rec, nil
		}
	}
	return s.records.Load(ctx, b.ID)
}

// proveCount signs the response of a vote that decides. Its scope is the
// narrowest scope of the approvals.
func (s provenOutcomes) proveCount(after bridge.Record, resp *bridge.Response) error {
	if !after.Enough(resp.State) {
		return nil
	}
	*resp = after.Narrowed(*resp)
	return s.p.ProveResponse(after.Interaction, resp, after.Votes)
}
