// Path of a click: settle.go → rooms.go of bridge/rooms → this file, and back → resolve.go
// of bridge/core, or vote.go if the approval needs several votes.

package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// SameTerms refuses an approval under terms that differ from those that the
// person saw.
func (s *Decisions) SameTerms(_ context.Context, d *Decision) (*bridge.Verdict, error) {
	if d.Record.State.Final() || d.Record.Interaction.Content == d.saw || d.Response.State != bridge.StateApproved {
		return nil, nil //nolint:nilnil // no objection
	}
	return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Changed}, nil
}

// CurrentConfig evaluates the request again if the config has changed.
func (s *Decisions) CurrentConfig(ctx context.Context, d *Decision) (refusal *bridge.Verdict, err error) {
	if !d.Decides() || s.evaluator.unchanged(d.Record.Interaction) {
		return nil, nil //nolint:nilnil // no objection
	}
	d.Record, refusal, err = s.reevaluate(ctx, d.Actor, d.Record)
	return refusal, err
}

// Fits refuses an edited input that the policy does not allow people to approve
// here.
func (s *Decisions) Fits(ctx context.Context, d *Decision) (*bridge.Verdict, error) {
	if !d.Decides() || len(d.Response.Input) == 0 {
		return nil, nil //nolint:nilnil // no objection
	}
	problem, err := s.unfitEdit(ctx, d.Record, d.Response.Input)
	if err != nil || problem == "" {
		return nil, err
	}
	v := words.Problem(problem)
	s.journal.Refuse(ctx, d.Record.Interaction, d.Actor, "edited input")
	return &v, nil
}

// Recounted removes the approvals of people who may no longer approve.
func (s *Decisions) Recounted(ctx context.Context, d *Decision) (*bridge.Verdict, error) {
	if !d.Decides() {
		return nil, nil //nolint:nilnil // no objection
	}
	return nil, s.recount(ctx, d.Record, d.Response)
}
