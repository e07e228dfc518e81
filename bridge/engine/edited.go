package engine

import (
	"context"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

const (
	noteReview   = "Nothing is approved yet: check your change."
	noteNoChange = "nod has no such change of yours, or you made another one since. Nothing was approved. Edit the input again."
)

// review keeps the input that a person edited, and returns the menu in which
// that person confirms the change.
func (cl *clicks) review(ctx context.Context, a admitted, input json.RawMessage) (bridge.Verdict, error) {
	if a.denyOnly != "" {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: a.denyOnly}, nil
	}
	problem, err := cl.settler.unfitEdit(ctx, a.record, input)
	if err != nil {
		return bridge.Verdict{}, err
	}
	if problem != "" {
		return words.Problem(problem), nil
	}
	i, d := a.record.Interaction, bridge.Draft{Actor: a.actor, Input: string(input)}
	if err := cl.drafts.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
		return bridge.Verdict{}, err
	}
	f := bridge.Form{View: cl.cards.drafted(ctx, a, &d), Control: a.control}
	f.Control.Action, f.Control.Option = bridge.ActionInput, bridge.EditedOption(string(input))
	return bridge.Verdict{Kind: bridge.VerdictReview, Note: noteReview, Review: &f}, nil
}

// reviewed returns the edited input that a control confirms. It returns "" if
// the person has made no change, or another one since.
func (cl *clicks) reviewed(ctx context.Context, a admitted) (string, error) {
	mine, _, err := cl.drafts.Draft(ctx, a.record.Interaction.ID, a.control.Destination, a.actor)
	if err != nil || mine == nil || bridge.EditedOption(mine.Input) != a.control.Option {
		return "", err
	}
	return mine.Input, nil
}
