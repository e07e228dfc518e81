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
	i, d := a.Record.Interaction, bridge.Draft{Actor: a.Who, Input: string(input)}
	if err := cl.drafts.SaveDraft(ctx, i.ID, a.Control.Destination, d); err != nil {
		return bridge.Verdict{}, err
	}
	f := bridge.Form{View: cl.cards.drafted(ctx, a, &d), Control: a.Control}
	f.Control.Action, f.Control.Option = bridge.ActionInput, bridge.EditedOption(string(input))
	return bridge.Verdict{Kind: bridge.VerdictReview, Note: noteReview, Review: &f}, nil
}

// reviewed returns the edited input that a control confirms. It returns "" if
// the person has made no change, or has made another change since.
func (cl *Clicks) reviewed(ctx context.Context, a Click) (string, error) {
	mine, _, err := cl.drafts.Draft(ctx, a.Record.Interaction.ID, a.Control.Destination, a.Who)
	if err != nil || mine == nil || bridge.EditedOption(mine.Input) != a.Control.Option {
		return "", err
	}
	return mine.Input, nil
}
