package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// assuredOutcomes refuses approvals without the assurance that their request
// requires. Every part of the engine that approves a pending request uses it,
// so that no entry point can leave out the proof.
type assuredOutcomes struct {
	bridge.Outcomes
	records bridge.Records
}

// Settle implements Outcomes.
func (s assuredOutcomes) Settle(ctx context.Context, t bridge.Settlement) (bridge.Record, bool, error) {
	if t.Response.State == bridge.StateApproved {
		i := t.Interaction
		if i.ID != t.ID {
			rec, err := s.records.Load(ctx, t.ID)
			if err != nil {
				return rec, false, err
			}
			i = rec.Interaction
		}
		if i.Unassured(t.Response) {
			return bridge.Record{}, false, errUnassured(t.ID)
		}
	}
	return s.Outcomes.Settle(ctx, t)
}

// Vote implements Outcomes.
func (s assuredOutcomes) Vote(ctx context.Context, b bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	if b.Vote.State == bridge.StateApproved {
		rec := b.Known
		// The store refuses the vote if an amendment has added a step-up since.
		if rec == nil || b.Expect == nil || rec.Amended != *b.Expect {
			stored, err := s.records.Load(ctx, b.ID)
			if err != nil {
				return stored, "", err
			}
			rec = &stored
		}
		if rec.Unproven(b.Response) {
			return bridge.Record{}, "", errUnassured(b.ID)
		}
	}
	return s.Outcomes.Vote(ctx, b)
}

func errUnassured(id bridge.ID) error {
	return bridge.Errorf(bridge.CodeForbidden, "interaction %s requires a proof of the person who approves", id).
		WithHint("approve it in chat or in the console, and use the link that you get")
}
