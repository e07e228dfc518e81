// Path of a click: click_check.go → this file → settle.go.

package engine

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// Clicks applies the clicks and typed text of people. Its methods in the list
// of deciders are the checks of every click.
type Clicks struct {
	records   core.Interactions
	drafts    Drafts
	cards     *cards
	people    *people.People
	decisions *Decisions
	seams     *Seams
	journal   *journal.Journal
	codes     *codes
	reader    *reader
	keys      bridge.Keyring
	linking   bool
	watcher   Watcher
	log       *slog.Logger
}

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

// click implements Engine.Click.
func (cl *Clicks) click(ctx context.Context, c bridge.Click) (bridge.Verdict, error) {
	began := time.Now()
	if words.Old(c.At) {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: words.ArrivedOld(c.At, words.NotRecordedOld)}, nil
	}
	a, v, err := cl.admit(ctx, c)
	if v == nil && err == nil {
		var said bridge.Verdict
		said, err = cl.clicked(ctx, a)
		v = &said
	}
	cl.watcher.Observe(a.activity("click", began, v, err))
	return orZero(v), err
}

// admit runs the checks of all clicks. A non-nil verdict is the reply to the click.
func (cl *Clicks) admit(ctx context.Context, c bridge.Click) (Click, *bridge.Verdict, error) {
	a := arrived(c)
	v, err := checked(ctx, cl.seams.Clicks, &a)
	return a, v, err
}

// arrived returns a click before any checks.
func arrived(c bridge.Click) Click { return Click{Click: c, Who: c.Actor} }

// clicked applies an admitted click.
func (cl *Clicks) clicked(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if s := a.Control.Action; s == bridge.ActionSnooze || s == bridge.ActionHandOver {
		return cl.late(ctx, a) // a decider handles a click on a pending request
	}
	if i.Kind == bridge.KindApproval {
		return cl.approval(ctx, a)
	}
	return cl.question(ctx, a)
}

func (cl *Clicks) approval(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if a.Control.Action == bridge.ActionSubmit && a.Control.Option >= bridge.OptionEdited {
		input, err := cl.reviewed(ctx, a)
		if err != nil {
			return bridge.Verdict{}, err
		}
		if input == "" && !a.Record.State.Final() {
			return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteNoChange}, nil
		}
		a.Typed = input
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

// record records the response of the actor in a.Record. It returns the reply
// without a card, and reports whether the rules refused the response.
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
	case result == bridge.BallotLate:
		v, err = cl.late(ctx, *a)
		return v, false, err
	case result == bridge.BallotRepeat:
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.VotedBefore}, false, nil
	}
	note := words.Recorded(rec)
	if result == bridge.BallotCounted && r.State == bridge.StateApproved {
		if unread := cl.people.Uncounted(ctx, rec.Interaction, a.Who); len(unread) > 0 {
			note += " nod cannot read " + strings.Join(unread, ", ") + " now, so your approval does not count there yet. Click again later."
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictSettled, Note: note}, false, nil
}

// stale returns the view of a message that no job redraws after a decision.
// This is the clicked message, if the record names a different one. It returns
// nil for a message that the record names.
func (cl *Clicks) stale(ctx context.Context, a Click) *bridge.View {
	if ref, ok := a.Record.Messages[a.Control.Destination]; ok && a.Token != "" && a.Ref.Message == ref.Message {
		return nil
	}
	return new(cl.cards.drafted(ctx, a, nil))
}
