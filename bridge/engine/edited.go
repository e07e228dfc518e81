package engine

import (
	"context"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

const (
	noteReview   = "Nothing is approved yet: check your change."
	noteNoChange = "nod no longer has this change, or you have made a newer one. Nothing was approved. Edit the input again."
)

// review stores the input that a person edited, and returns the menu in which
// that person confirms the change.
func (cl *Clicks) review(ctx context.Context, a Click, input json.RawMessage) (bridge.Verdict, error) {
	if a.DenyOnly != "" {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: a.DenyOnly}, nil
	}
	problem, err := cl.decisions.unfitEdit(ctx, a.Record, input)
	if err != nil {
		return bridge.Verdict{}, err
	}
	if problem != "" {
		return words.Problem(problem), nil
	}
	d, err := cl.drafts.ChangeDraft(ctx, a.Record.Interaction.ID, a.Control.Destination, a.Who, func(*bridge.Draft) (bridge.Draft, bool) {
		return bridge.Draft{Actor: a.Who, Input: string(input)}, true
	})
	if err != nil {
		return bridge.Verdict{}, err
	}
	f := bridge.Form{View: cl.cards.drafted(ctx, a, &d), Control: a.Control}
	f.Control.Action, f.Control.Option = bridge.ActionInput, bridge.EditedOption(string(input))
	return bridge.Verdict{Kind: bridge.VerdictReview, Note: noteReview, Review: &f}, nil
}

// readEdited sets the typed text of a click that confirms an edit to the edited
// input. It returns a verdict if the person has no such edit, or has made
// another one since.
func (cl *Clicks) readEdited(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	if a.Control.Action != bridge.ActionSubmit || a.Control.Option < bridge.OptionEdited {
		return nil, nil //nolint:nilnil // no objection
	}
	mine, _, err := cl.drafts.Draft(ctx, a.Record.Interaction.ID, a.Control.Destination, a.Who)
	if err != nil {
		return nil, err
	}
	a.Typed = ""
	if mine != nil && bridge.EditedOption(mine.Input) == a.Control.Option {
		a.Typed = mine.Input
	}
	if a.Typed == "" && !a.Record.State.Final() {
		return &bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteNoChange}, nil
	}
	return nil, nil //nolint:nilnil // no objection
}
