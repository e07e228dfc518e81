package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// Card returns the clicked card, or the card of the clicked private message. It
// returns nil if the answer came without a click.
func (a Click) Card() *bridge.MessageRef {
	if a.Ref.Message != "" {
		return &a.Ref
	}
	if ref, ok := a.Record.Messages[a.Control.Destination]; ok && a.Token != "" {
		return &ref
	}
	return nil
}

// late replies to a click on a closed request. A card that a follow-up took
// over shows the follow-up.
func (cl *Clicks) late(ctx context.Context, a Click) (bridge.Verdict, error) {
	cl.log.Info("late answer", "id", a.Record.Interaction.ID, "state", a.Record.State, "platform", a.Who.Platform, "user", a.Who.User)
	note := words.Late(a.Record, a.Who)
	if a.Record.Next != "" {
		head, err := cl.cards.head(ctx, a.Record)
		if err != nil {
			return bridge.Verdict{}, err
		}
		if a.Record = head; !head.State.Final() {
			note = words.AskedAgain
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictLate, Note: note, View: new(cl.cards.drafted(ctx, a, nil))}, nil
}

// activity returns the activity of a click for the observer.
func (a Click) activity(name string, began time.Time, v *bridge.Verdict, err error) bridge.Activity {
	return bridge.Activity{Name: name, Place: a.Actor.Platform, ID: a.Control.Interaction, Trace: a.Record.Interaction.Trace, Began: began, Result: orZero(v).Kind, Err: err}
}

func orZero(v *bridge.Verdict) bridge.Verdict {
	if v == nil {
		return bridge.Verdict{}
	}
	return *v
}

// stale returns the view of a message that no job redraws after a decision: the
// clicked message, if it is not in the record. It returns nil for a message in
// the record.
func (cl *Clicks) stale(ctx context.Context, a Click) *bridge.View {
	if ref, ok := a.Record.Messages[a.Control.Destination]; ok && a.Token != "" && a.Ref.Message == ref.Message {
		return nil
	}
	return new(cl.cards.drafted(ctx, a, nil))
}
