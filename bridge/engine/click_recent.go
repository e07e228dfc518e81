package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// remembered applies a click that decides an approval to the request as this
// daemon remembers it. It calls the store once, to record the decision. That
// fails if the channel is read-only, or if the request was amended or the card
// changed since it was read. It returns false if anything speaks against the
// decision. Then it has changed nothing, and the stored request has to be read.
func (cl *clicks) remembered(ctx context.Context, c bridge.Click) (admitted, bridge.Verdict, bool, error) {
	a, ok := cl.recall(c)
	if !ok {
		return a, bridge.Verdict{}, false, nil
	}
	r, ok := cl.undisputed(ctx, &a)
	if !ok {
		return a, bridge.Verdict{}, false, nil
	}
	at := a.control.Destination
	d := a.record.Interaction.Destinations[at]
	got, result, err := cl.settler.settleOne(ctx, a.actor, a.record, r, &recalled{
		card:     bridge.Shown{Destination: at, Content: a.record.Shown[at]},
		readOnly: muteKey(d.Platform, d.Channel),
	})
	if code := bridge.ErrorCode(err); code == bridge.CodeConflict || code == bridge.CodeNotFound {
		return a, bridge.Verdict{}, false, nil
	}
	if err != nil {
		return a, bridge.Verdict{}, true, err
	}
	a.record = got
	if result != bridge.BallotDecided {
		v, err := cl.late(ctx, a)
		return a, v, true, err
	}
	return a, bridge.Verdict{Kind: bridge.VerdictSettled, Note: noteRecorded(got), View: cl.stale(ctx, a)}, true, nil
}

// recall returns a click with the remembered request, if the request was read
// after the clicked message was recorded, and that message shows all of it.
func (cl *clicks) recall(c bridge.Click) (admitted, bool) {
	a := admitted{Click: c, actor: c.Actor}
	var err error
	if a.control, err = cl.keys.Verify(c.Token); err != nil {
		return a, false
	}
	rec := cl.recent.get(a.control.Interaction)
	if rec == nil {
		return a, false
	}
	i := rec.Interaction
	a.record, a.posted = *rec, rec.Messages
	_, posted := rec.Messages[a.control.Destination]
	_, all := a.control.All()
	plain := i.Kind == bridge.KindApproval && !i.Counted() && i.StepUp == nil && rec.Queued.IsZero() && rec.Batch == "" &&
		len(rec.Members) == 0 && !all && len(c.Inputs) == 0 && a.control.Action == bridge.ActionChoose
	return a, plain && posted && a.inPlace() && a.control.Terms == byte(i.Terms) && seen(*rec, a.control.Destination)
}

// undisputed returns the response of a recalled click. It returns false if the
// person may not give it without restrictions, or if the current config asks for
// more than the request.
func (cl *clicks) undisputed(ctx context.Context, a *admitted) (bridge.Response, bool) {
	i := a.record.Interaction
	actor, why, err := cl.people.eligible(ctx, i, a.Actor)
	if err != nil || why != "" {
		return bridge.Response{}, false
	}
	a.actor = actor
	d, given, problem := a.decision()
	if problem != "" {
		return bridge.Response{}, false
	}
	r, problem, err := decide(i, d, given)
	if err != nil || problem != "" {
		return r, false
	}
	r.Message = a.clickedMessage()
	if r.State != bridge.StateApproved || cl.settler.evaluator.unchanged(a.record) && !a.record.Unproven(a.actor, r) {
		return r, true
	}
	now, err := cl.settler.evaluator.rejudge(ctx, a.record)
	return r, err == nil && now.denied == nil && len(now.stricter) == 0 && !a.record.Unproven(a.actor, r)
}

// stale returns the view of a message that no job redraws after a decision: the
// clicked message, if the record names another one. It returns nil for a message
// that the record names.
func (cl *clicks) stale(ctx context.Context, a admitted) *bridge.View {
	if ref, ok := a.posted[a.control.Destination]; ok && a.Token != "" && a.Ref.Message == ref.Message {
		return nil
	}
	return cl.cards.shown(ctx, a, nil)
}
