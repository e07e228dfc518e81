// Path of a click: inbound.go of an adapter → this file → rooms.go of bridge/rooms.

package engine

import (
	"context"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/words"
)

// Click is a click during its checks, with their results so far.
type Click struct {
	bridge.Click
	Control bridge.Control
	Record  bridge.Record
	fields  []bridge.Field
	Who     bridge.Actor // with Person set
	// DenyOnly is the text that explains to the actor why they may deny but not
	// approve. It is empty for other actors.
	DenyOnly string
	// Form is nil unless the person asks for a native input. If a decider
	// returns a verdict without a kind, it has filled in the form.
	Form    *bridge.Form
	answers map[string]bridge.Answer
	others  map[string]string
	parts   map[string]bridge.Input // inputs that asked for only a part of an answer
}

// click implements Engine.Click. The deciders check the click in their order. If
// one of them objects, its verdict is the reply to the person.
func (cl *Clicks) click(ctx context.Context, c bridge.Click) (reply bridge.Verdict, err error) {
	if words.Old(c.At) {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: words.ArrivedOld(c.At, words.NotRecordedOld)}, nil
	}
	began := time.Now()
	a, objection, err := cl.admit(ctx, c, nil)
	if objection == nil && err == nil {
		reply, err = cl.clicked(ctx, a)
	} else {
		reply = orZero(objection)
	}
	cl.watcher.Observe(a.activity("click", began, &reply, err))
	return reply, err
}

// arrived returns a click before any checks.
func arrived(c bridge.Click) Click { return Click{Click: c, Who: c.Actor} }

// admit lets the deciders check a click. If the request is amended in the meantime,
// the checks start again. If no decider objects, every check has passed on the
// returned record.
func (cl *Clicks) admit(ctx context.Context, c bridge.Click, f *bridge.Form) (a Click, objection *bridge.Verdict, err error) {
	for range concludeTries {
		a = arrived(c)
		a.Form = f
		if objection, err = checked(ctx, cl.seams.Clicks, &a); bridge.ErrorCode(err) != bridge.CodeConflict {
			break
		}
	}
	return a, objection, err
}

// clicked applies a click that has passed the checks.
func (cl *Clicks) clicked(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if s := a.Control.Action; s == bridge.ActionSnooze || s == bridge.ActionHandOver {
		return cl.late(ctx, a) // a decider has handled it if the request is pending
	}
	if i.Kind == bridge.KindApproval {
		return cl.approval(ctx, a)
	}
	return cl.question(ctx, a)
}

// approval applies a click on an approval: it converts the clicked control into
// a response, and records it. An edited input is shown to the person first.
func (cl *Clicks) approval(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if v, err := cl.readEdited(ctx, &a); v != nil || err != nil {
		return orZero(v), err
	}
	d, given, problem := a.decision()
	if problem != "" {
		return words.Problem(problem), nil
	}
	r, problem, err := decide(i, d, given)
	switch {
	case err != nil: // this interaction does not have such a control
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	case problem != "" && !a.Record.State.Final():
		return words.Problem(problem), nil
	case a.Control.Option == bridge.OptionEdit && len(r.Input) > 0 && !a.Record.State.Final():
		return cl.review(ctx, a, r.Input)
	}
	return cl.settle(ctx, a, r)
}

// settle records the response of the actor, and returns the reply to the click
// with the card that it changes.
func (cl *Clicks) settle(ctx context.Context, a Click, r bridge.Response) (bridge.Verdict, error) {
	v, refused, err := cl.record(ctx, &a, r)
	switch {
	case err != nil:
	case v.Kind == bridge.VerdictSettled:
		v.View = cl.stale(ctx, a)
	case refused:
		v.View = new(cl.cards.drafted(ctx, a, nil))
	}
	return v, err
}

// record records the response of the actor, and sets a.Record to the record after
// it. It returns the reply without a card, and reports whether the rules refused
// the response.
func (cl *Clicks) record(ctx context.Context, a *Click, r bridge.Response) (v bridge.Verdict, refused bool, err error) {
	r.Message = a.Card()
	if a.DenyOnly != "" && r.State != bridge.StateDenied && r.State != bridge.StateCancelled {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: a.DenyOnly}, false, nil
	}
	rec, result, refusal, err := cl.decisions.Conclude(ctx, a.Who, a.Record, r)
	if err != nil {
		return bridge.Verdict{}, false, err
	}
	a.Record = rec
	switch {
	case refusal != nil:
		return *refusal, true, nil
	case result == core.BallotLate:
		v, err = cl.late(ctx, *a)
		return v, false, err
	case result == core.BallotRepeat:
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.VotedBefore}, false, nil
	}
	v = bridge.Verdict{Kind: bridge.VerdictSettled, Note: words.Recorded(rec)}
	if result == core.BallotCounted && r.State == bridge.StateApproved {
		if unread := cl.people.Uncounted(ctx, rec.Interaction, a.Who); len(unread) > 0 {
			v.Kind = bridge.VerdictNoted // no card shows the note
			v.Note += " nod cannot read " + strings.Join(unread, ", ") + " now, so your approval does not count for them yet. Click again later."
		}
	}
	return v, false, nil
}
