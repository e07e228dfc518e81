package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// Clicks applies the clicks and typed text of people. Its methods that a list of
// deciders has are the checks of every click.
type Clicks struct {
	records   bridge.Records
	drafts    bridge.Drafts
	cards     *cards
	people    *people.People
	settler   *Decisions
	seams     *Seams
	journal   *journal.Journal
	codes     *codes
	escalator *Escalator
	reader    *reader
	keys      bridge.Keyring
	linking   bool
	watcher   Watcher
	log       *slog.Logger
}

// Click is a click that is checked, and what the checks have found.
type Click struct {
	bridge.Click
	Control bridge.Control
	Record  bridge.Record
	fields  []bridge.Field
	Who     bridge.Actor // with Person set
	// DenyOnly is the text that tells the actor why they may deny but not approve.
	// It is empty for other actors.
	DenyOnly string
	// Form is nil unless the person asks for a native input. A decider that returns a
	// verdict without a kind has filled it.
	Form    *bridge.Form
	answers map[string]bridge.Answer
	others  map[string]string
	parts   map[string]bridge.Input // inputs that asked for a part of an answer
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

// arrived returns a click of which nothing was checked.
func arrived(c bridge.Click) Click { return Click{Click: c, Who: c.Actor} }

// Chosen checks that the chosen options exist, and converts them into answers.
func (*Clicks) Chosen(_ context.Context, a *Click) (*bridge.Verdict, error) {
	if a.resolve() {
		return nil, nil //nolint:nilnil // no objection
	}
	return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
}

// ShowsAll checks that the card shows everything that the control decides. The menu of
// one that does not offers no approval.
func (cl *Clicks) ShowsAll(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	if a.Record.State.Final() {
		return nil, nil //nolint:nilnil // no objection
	}
	v, err := cl.cards.unseen(ctx, a)
	return a.denying(v), err
}

// denying returns an objection. The menu can be opened nevertheless, and offers no
// approval.
func (a *Click) denying(v *bridge.Verdict) *bridge.Verdict {
	if v == nil || a.Control.Action != bridge.ActionMore {
		return v
	}
	a.DenyOnly = v.Note
	return nil
}

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
	cl.journal.Refuse(ctx, i, c.Actor, "out of place")
	return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
}

// MayAnswer checks that the person may respond, or use the control to deny.
func (cl *Clicks) MayAnswer(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	i, c := a.Record.Interaction, a.Click
	var no people.Refusal
	a.Who, no = cl.people.Eligible(ctx, i, c.Actor)
	if no.Why == people.WhyUnread {
		cl.log.Warn("not known whether an account may answer", "id", i.ID, "platform", c.Actor.Platform, "user", c.Actor.User, "unread", no.Unread)
	}
	if no.Denies && (a.Control.Denies(i) || a.Control.Action == bridge.ActionMore) {
		a.DenyOnly, no = words.Why(i, no), people.Refusal{}
	}
	if no.Why == "" {
		return nil, nil
	}
	cl.journal.Refuse(ctx, i, a.Who, no.Why)
	note := words.Why(i, no)
	if cl.linking && a.Who.Person == "" && no.Why != people.WhyUnread {
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

// inPlace reports whether the click came from the destination that its token
// is bound to.
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
		return true // the platform authenticated the form, but does not send its message
	}
	// A click can arrive before the message of its card is recorded.
	ref, posted := a.Record.Messages[a.Control.Destination]
	return !posted || a.Ref.Channel == ref.Channel
}

// resolve converts inputs, which refer to fields and options by index, into
// answers. It returns false for an invalid index.
func (a *Click) resolve() bool {
	a.answers, a.others, a.parts = map[string]bridge.Answer{}, map[string]string{}, map[string]bridge.Input{}
	for n, in := range a.Inputs {
		if n < 0 || n >= len(a.fields) {
			return false
		}
		f := a.fields[n]
		values := []string{}
		if f.FreeText() {
			in.Options = nil
		}
		for _, o := range in.Options {
			if o < 0 || o >= len(f.Options) {
				return false
			}
			values = append(values, f.Options[o].Value)
		}
		switch {
		case in.KeepOptions:
		case f.FreeText():
			a.answers[f.ID] = bridge.TextAnswer(in.Text)
		case f.Multiple() || len(values) > 1: // Check rejects several values if only one is allowed
			a.answers[f.ID] = bridge.ListAnswer(values...)
		case len(values) == 1:
			a.answers[f.ID] = bridge.TextAnswer(values[0])
		default:
			a.answers[f.ID] = bridge.Answer{}
		}
		if in.Part {
			a.parts[f.ID] = in
		}
		if in.Other != "" {
			a.others[f.ID] = in.Other
		}
	}
	return true
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

// clicked applies an admitted click.
func (cl *Clicks) clicked(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if s := a.Control.Action; s == bridge.ActionSnooze || s == bridge.ActionHandOver {
		switch {
		case a.Record.State.Final():
			return cl.late(ctx, a)
		case s == bridge.ActionSnooze:
			return cl.escalator.snooze(ctx, a)
		}
		return cl.escalator.handOver(ctx, a)
	}
	if i.Kind == bridge.KindApproval {
		return cl.approval(ctx, a)
	}
	return cl.question(ctx, a)
}

// question applies a click on a question, which answers it or changes a draft.
func (cl *Clicks) question(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if a.Control.Action == bridge.ActionDecline && i.Declinable {
		return cl.settle(ctx, a, declined(""))
	}
	if a.Control.Question >= len(a.fields) && a.Control.Action != bridge.ActionStep {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	if a.Control.Action == bridge.ActionSubmit && a.Control.Option == bridge.OptionDecide && i.LonePlan() {
		a.Control.Option = 0 // the dialog with the whole plan approves it
		return cl.tap(ctx, a)
	}
	if a.Control.Action == bridge.ActionSubmit {
		return cl.submit(ctx, a)
	}
	if _, lone := i.Lone(); a.Control.Action == bridge.ActionChoose && (lone && a.fields[0].OneTap() || i.LonePlan()) {
		return cl.tap(ctx, a)
	}
	if a.Record.State.Final() {
		return cl.late(ctx, a)
	}
	return cl.edit(ctx, a)
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
	case err != nil: // a control that this interaction does not have
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	case problem != "" && !a.Record.State.Final():
		return words.Problem(problem), nil
	case a.Control.Option == bridge.OptionEdit && len(r.Input) > 0 && !a.Record.State.Final():
		return cl.review(ctx, a, r.Input)
	}
	return cl.settle(ctx, a, r)
}

// decision returns the decision of a control on an approval and what was typed
// with it, or the problem with what was typed. The decision is empty if the
// approval does not have the control.
func (a Click) decision() (d bridge.Decision, given bridge.Given, problem string) {
	i, c := a.Record.Interaction, a.Control
	all := i.Decisions()
	if c.Action == bridge.ActionChoose && c.Option < len(all) && all[c.Option].OnePress(i.Approval) {
		return all[c.Option], given, ""
	}
	if c.Action != bridge.ActionSubmit {
		return "", given, ""
	}
	if c.Option == bridge.OptionReason {
		d = bridge.DecideDenyReason
	} else if c.Question < len(all) {
		d = all[c.Question]
	}
	if c.Option >= bridge.OptionEdited {
		given.Input = json.RawMessage(a.Typed)
		return d, given, ""
	}
	switch c.Option {
	case bridge.OptionEdit:
		given.Input = json.RawMessage(a.Typed)
	case bridge.OptionConfirm:
		given.Confirm = a.Typed
	case bridge.OptionReason, bridge.OptionDecide:
		switch {
		case d.Approves():
			given.Confirm = a.Typed
		case a.Typed != "" || c.Option == bridge.OptionReason:
			reason, wrong := bridge.Question{Widget: bridge.WidgetTextarea}.Check(bridge.TextAnswer(a.Typed), "")
			given.Reason, problem = reason.Text, wrong
		}
	default:
		d = ""
	}
	return d, given, problem
}

func declined(reason string) bridge.Response {
	return bridge.Response{State: bridge.StateCancelled, Reason: reason}
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
// without a card, and whether the rules refused the response.
func (cl *Clicks) record(ctx context.Context, a *Click, r bridge.Response) (v bridge.Verdict, refused bool, err error) {
	r.Message = a.Card()
	if a.DenyOnly != "" && r.State != bridge.StateDenied && r.State != bridge.StateCancelled {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: a.DenyOnly}, false, nil
	}
	rec, result, refusal, err := cl.settler.Conclude(ctx, a.Who, a.Record, r)
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

// stale returns the view of a message that no job redraws after a decision: the
// clicked message, if the record names another one. It returns nil for a message
// that the record names.
func (cl *Clicks) stale(ctx context.Context, a Click) *bridge.View {
	if ref, ok := a.Record.Messages[a.Control.Destination]; ok && a.Token != "" && a.Ref.Message == ref.Message {
		return nil
	}
	return new(cl.cards.drafted(ctx, a, nil))
}
