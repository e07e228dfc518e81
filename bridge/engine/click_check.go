// Path of a click: rooms.go of bridge/rooms → this file, and back to click.go → settle.go.

package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// Located checks that nod created the control, and that it belongs to the
// destination of the click.
func (cl *Clicks) Located(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	c := a.Click
	var err error
	if a.Control, err = cl.keys.Verify(c.Token); err != nil {
		cl.log.Warn("forged control", "platform", c.Actor.Platform, "user", c.Actor.User)
		return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	a.Record, err = cl.records.Load(ctx, a.Control.Interaction)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		cl.log.Warn("click on an unknown interaction", "id", a.Control.Interaction, "platform", c.Actor.Platform, "user", c.Actor.User)
		return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Unknown}, nil
	}
	if err != nil {
		return nil, err
	}
	i := a.Record.Interaction
	a.fields = i.Fields()
	if a.inPlace() {
		return nil, nil //nolint:nilnil // no objection
	}
	cl.log.Warn("control used at another destination", "id", i.ID, "platform", c.Actor.Platform, "user", c.Actor.User, "channel", c.Ref.Channel)
	cl.journal.Refuse(ctx, i, c.Actor, "the control belongs to another destination")
	return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
}

// MayAnswer checks that the person may respond, or use the control to deny. For
// a person who may only deny, it sets DenyOnly to the reason.
func (cl *Clicks) MayAnswer(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	i, c := a.Record.Interaction, a.Click
	var refusal people.Refusal
	a.Who, refusal = cl.people.Eligible(ctx, i, c.Actor)
	if refusal.Why == people.WhyUnread {
		cl.log.Warn("cannot find out whether an account may answer", "id", i.ID, "platform", c.Actor.Platform, "user", c.Actor.User, "unread", refusal.Unread)
	}
	if refusal.Denies && (a.Control.Denies(i) || a.Control.Action == bridge.ActionMore) {
		a.DenyOnly, refusal = words.Why(i, refusal), people.Refusal{}
	}
	if refusal.Why == "" {
		return nil, nil
	}
	cl.journal.Refuse(ctx, i, a.Who, refusal.Why)
	note := words.Why(i, refusal)
	if cl.linking && a.Who.Person == "" && refusal.Why != people.WhyUnread {
		var err error
		if note, err = cl.codes.offer(ctx, c); err != nil {
			return nil, err
		}
	}
	if reason := cl.people.Standing(ctx, a.Who); reason != "" {
		note += " " + reason
	}
	return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}, nil
}

// Chosen checks that the chosen options exist, and converts them into answers.
func (*Clicks) Chosen(_ context.Context, a *Click) (*bridge.Verdict, error) {
	if a.readInputs() {
		return nil, nil //nolint:nilnil // no objection
	}
	return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
}

// ShowsAll checks that the card shows everything that the control decides.
// Otherwise, its menu offers no approval.
func (cl *Clicks) ShowsAll(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	if a.Record.State.Final() {
		return nil, nil //nolint:nilnil // no objection
	}
	v, err := cl.cards.unseen(ctx, a)
	return a.denying(v), err
}

// CurrentTerms rejects a control of a card that was posted before the requirements
// changed. Denials keep their indexes among the decisions, and work from any card.
func (cl *Clicks) CurrentTerms(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	i := a.Record.Interaction
	current := a.Control.Terms == byte(i.Terms)
	if i.Kind != bridge.KindApproval || a.Record.State.Final() || a.Control.Denies(i) || current {
		return nil, nil //nolint:nilnil // no objection
	}
	return a.denying(&bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Changed, View: new(cl.cards.drafted(ctx, *a, nil))}), nil
}

// inPlace reports whether the click came from the destination of its token.
func (a Click) inPlace() bool {
	i := a.Record.Interaction
	if a.Control.Destination >= len(i.Destinations) {
		return false
	}
	d := i.Destinations[a.Control.Destination]
	if d.Platform != a.Actor.Platform {
		return false
	}
	if a.Ref == (bridge.MessageRef{}) {
		return true // the platform has authenticated the form, but does not send the message
	}
	// A click can arrive before the message of its card is recorded.
	ref, posted := a.Record.Messages[a.Control.Destination]
	return !posted || a.Ref.Channel == ref.Channel
}

// denying returns a verdict that refuses everything except a denial. The menu
// can still be opened, but offers no approval.
func (a *Click) denying(v *bridge.Verdict) *bridge.Verdict {
	if v == nil || a.Control.Action != bridge.ActionMore {
		return v
	}
	a.DenyOnly = v.Note
	return nil
}
