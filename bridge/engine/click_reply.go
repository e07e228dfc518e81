package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// clickedMessage returns the card that was clicked, or the card whose private
// message was clicked. It returns nil if the answer came without a click.
func (a admitted) clickedMessage() *bridge.MessageRef {
	if a.Ref.Message != "" {
		return &a.Ref
	}
	if ref, ok := a.record.Messages[a.control.Destination]; ok && a.Token != "" {
		return &ref
	}
	return nil
}

// late replies to a click on a closed request. A card that a follow-up took
// over shows the follow-up.
func (cl *clicks) late(ctx context.Context, a admitted) (bridge.Verdict, error) {
	cl.log.Info("late answer", "id", a.record.Interaction.ID, "state", a.record.State, "platform", a.actor.Platform, "user", a.actor.User)
	note := words.Late(a.record, a.actor)
	if a.record.Next != "" {
		head, err := cl.cards.head(ctx, a.record)
		if err != nil {
			return bridge.Verdict{}, err
		}
		if a.record = head; !head.State.Final() {
			note = words.AskedAgain
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictLate, Note: note, View: new(cl.cards.drafted(ctx, a, nil))}, nil
}

// activity returns the activity of a click for the observer.
func (a admitted) activity(name string, began time.Time, v *bridge.Verdict, err error) bridge.Activity {
	return bridge.Activity{Name: name, Place: a.Actor.Platform, ID: a.control.Interaction, Trace: a.record.Interaction.Trace, Began: began, Result: orZero(v).Kind, Err: err}
}

func orZero(v *bridge.Verdict) bridge.Verdict {
	if v == nil {
		return bridge.Verdict{}
	}
	return *v
}
