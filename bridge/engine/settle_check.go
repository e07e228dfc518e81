// Path of a click: settle.go → this file → resolve.go of bridge/core.

package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// SameTerms refuses an approval under terms that differ from those that the
// person saw.
func (s *Decisions) SameTerms(_ context.Context, t *Decision) (*bridge.Verdict, error) {
	if t.Record.State.Final() || t.Record.Interaction.Terms == t.seen || t.Response.State != bridge.StateApproved {
		return nil, nil //nolint:nilnil // no objection
	}
	return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Changed}, nil
}

// CurrentConfig evaluates the request again if the config has changed.
func (s *Decisions) CurrentConfig(ctx context.Context, t *Decision) (refusal *bridge.Verdict, err error) {
	if !t.decides() || s.evaluator.unchanged(t.Record.Interaction) {
		return nil, nil //nolint:nilnil // no objection
	}
	t.Record, refusal, err = s.reevaluate(ctx, t.Actor, t.Record)
	return refusal, err
}

// Fits refuses an edited input that the policy does not allow people to approve
// here.
func (s *Decisions) Fits(ctx context.Context, t *Decision) (*bridge.Verdict, error) {
	if !t.decides() || len(t.Response.Input) == 0 {
		return nil, nil //nolint:nilnil // no objection
	}
	problem, err := s.unfitEdit(ctx, t.Record, t.Response.Input)
	if err != nil || problem == "" {
		return nil, err
	}
	v := words.Problem(problem)
	s.journal.Refuse(ctx, t.Record.Interaction, t.Actor, "edited input")
	return &v, nil
}

// Recounted removes the approvals of people who may no longer approve.
func (s *Decisions) Recounted(ctx context.Context, t *Decision) (*bridge.Verdict, error) {
	if !t.decides() {
		return nil, nil //nolint:nilnil // no objection
	}
	now, err := s.recount(ctx, t.Record, t.Response)
	if err == nil {
		t.Record = now
	}
	return nil, err
}
