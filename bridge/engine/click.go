package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// admitted is a click that passed the checks every click must pass.
type admitted struct {
	bridge.Click
	control bridge.Control
	record  bridge.Record
	posted  map[int]bridge.MessageRef // where its card is
	fields  []bridge.Field
	actor   bridge.Actor // with Person set
	// denyOnly is why the actor may not approve but deny; empty for others.
	denyOnly string
	answers  map[string]bridge.Answer
	others   map[string]string
}

func (a admitted) view(e *Engine, d *bridge.Draft) bridge.View {
	v := bridge.NewView(e.forPeople(a.record), a.control.Destination, d, e.keys.Sign)
	if d != nil { // what it says of the draft may make the text too long for the card
		v.Parts = e.parts(v)
	}
	return v
}

// admit checks token, place and person. A verdict other than nil is the
// answer to the click.
func (e *Engine) admit(ctx context.Context, c bridge.Click) (admitted, *bridge.Verdict, error) {
	a := admitted{Click: c, actor: c.Actor}
	var err error
	if a.control, err = e.keys.Verify(c.Token); err != nil {
		e.log.Warn("forged control", "platform", c.Actor.Platform, "user", c.Actor.User)
		return a, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	a.record, err = e.store.Load(ctx, a.control.Interaction)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		e.log.Warn("click on an unknown interaction", "id", a.control.Interaction, "platform", c.Actor.Platform, "user", c.Actor.User)
		return a, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteUnknown}, nil
	}
	if err != nil {
		return a, nil, err
	}
	i := a.record.Interaction
	a.fields, a.posted = i.Fields(), a.record.Messages
	if a.record.Batch != "" { // the card is that of the batch's first
		first, err := e.store.Load(ctx, a.record.Batch)
		if err != nil {
			return a, nil, err
		}
		a.posted = first.Messages
	}
	if !a.inPlace() {
		e.log.Warn("control used out of its place", "id", i.ID, "platform", c.Actor.Platform, "user", c.Actor.User, "channel", c.Ref.Channel)
		e.refuse(ctx, i, c.Actor, "out of place")
		return a, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	var why string
	if a.actor, why, err = e.eligible(ctx, i, c.Actor); err != nil {
		e.log.Error("who somebody is can not be known just now", "id", i.ID, "platform", c.Actor.Platform, "user", c.Actor.User, "error", err)
		return a, nil, err
	}
	if mayDeny(i, why) && a.denies() {
		a.denyOnly, why = why, ""
	}
	if why != "" {
		e.refuse(ctx, i, a.actor, why)
		note := noteWhy(i, why)
		if e.linking && a.actor.Person == "" {
			if note, err = e.offerLink(ctx, c); err != nil {
				return a, nil, err
			}
		}
		return a, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}, nil
	}
	if !a.resolve() {
		return a, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	if a.record.State.Final() {
		return a, nil, nil // the answer is who was first, wherever it is asked
	}
	muted, err := e.muted(ctx, i.Destinations[a.control.Destination])
	if err != nil {
		return a, nil, err
	}
	if !muted {
		v, err := e.unseen(ctx, &a)
		return a, v, err
	}
	view := e.shown(ctx, a, nil)
	if view != nil {
		view.ReadOnly = true
	}
	return a, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteMuted, View: view}, nil
}

// denies reports whether the control can only deny or decline.
func (a admitted) denies() bool {
	c, decisions := a.control, a.record.Interaction.Decisions()
	switch c.Action {
	case bridge.ActionDecline:
		return true
	case bridge.ActionAll:
		return c.Option < len(bridge.BatchDecisions) && !bridge.BatchDecisions[c.Option].Approves()
	case bridge.ActionInput, bridge.ActionSubmit:
		return len(decisions) > 0 && c.Option == bridge.OptionReason
	case bridge.ActionChoose:
		return c.Option < len(decisions) && !decisions[c.Option].Approves()
	}
	return false
}

// outdated is the answer to a control of a card from before the requirements
// changed; nil for others. Denials stay where they are among the decisions, and
// count from any card.
func (e *Engine) outdated(ctx context.Context, a admitted) *bridge.Verdict {
	i := a.record.Interaction
	if i.Kind != bridge.KindApproval || a.record.State.Final() || a.control.Action == bridge.ActionAll || a.denies() || a.control.Terms == byte(i.Terms) {
		return nil
	}
	return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteChanged, View: e.shown(ctx, a, nil)}
}

// resolve turns inputs, which name fields and options by index, into answers;
// false for an index that does not exist.
func (a *admitted) resolve() bool {
	a.answers, a.others = map[string]bridge.Answer{}, map[string]string{}
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
		case f.Multiple() || len(values) > 1: // several where one is wanted: the check says so
			a.answers[f.ID] = bridge.ListAnswer(values...)
		case len(values) == 1:
			a.answers[f.ID] = bridge.TextAnswer(values[0])
		default:
			a.answers[f.ID] = bridge.Answer{}
		}
		if in.Other != "" {
			a.others[f.ID] = in.Other
		}
	}
	return true
}

// inPlace reports whether the click came from the destination that its token
// is bound to.
func (a admitted) inPlace() bool {
	i := a.record.Interaction
	if a.control.Destination >= len(i.Destinations) {
		return false
	}
	d := i.Destinations[a.control.Destination]
	if d.Platform != a.Actor.Platform {
		return false
	}
	if a.Ref == (bridge.MessageRef{}) {
		return true // the service authenticated the form but does not say where it was opened
	}
	// A click may overtake the note of where its card was posted.
	ref, posted := a.posted[a.control.Destination]
	return !posted || a.Ref.Channel == ref.Channel
}

// Form implements Sink.
func (e *Engine) Form(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	began := time.Now()
	a, v, err := e.admit(ctx, c)
	if v == nil && err == nil {
		v = e.outdated(ctx, a)
	}
	f := bridge.Form{}
	if v == nil && err == nil {
		var said bridge.Verdict
		f, said, err = e.form(ctx, a)
		v = &said
	}
	e.observe(a.activity("form", began, v, err))
	return f, orZero(v), err
}

// activity is what an observer is told of a click.
func (a admitted) activity(name string, began time.Time, v *bridge.Verdict, err error) bridge.Activity {
	return bridge.Activity{Name: name, Place: a.Actor.Platform, ID: a.control.Interaction, Trace: a.record.Interaction.Trace, Began: began, Result: orZero(v).Kind, Err: err}
}

func (e *Engine) form(ctx context.Context, a admitted) (bridge.Form, bridge.Verdict, error) {
	if a.control.Action != bridge.ActionInput || a.control.Question >= max(1, len(a.fields), len(a.record.Interaction.Decisions())) {
		return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	if a.record.State.Final() {
		v, err := e.late(ctx, a)
		return bridge.Form{}, v, err
	}
	mine, _, err := e.store.Draft(ctx, a.record.Interaction.ID, a.control.Destination, a.actor)
	if err != nil {
		return bridge.Form{}, bridge.Verdict{}, err
	}
	return bridge.Form{View: a.view(e, mine), Control: a.control}, bridge.Verdict{}, nil
}

func orZero(v *bridge.Verdict) bridge.Verdict {
	if v == nil {
		return bridge.Verdict{}
	}
	return *v
}

// Click implements Sink.
func (e *Engine) Click(ctx context.Context, c bridge.Click) (bridge.Verdict, error) {
	began := time.Now()
	a, v, err := e.admit(ctx, c)
	if v == nil && err == nil {
		v = e.outdated(ctx, a)
	}
	if v == nil && err == nil {
		var said bridge.Verdict
		said, err = e.clicked(ctx, a)
		v = &said
	}
	e.observe(a.activity("click", began, v, err))
	return orZero(v), err
}

// clicked applies an admitted click.
func (e *Engine) clicked(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i := a.record.Interaction
	if s := a.control.Action; s == bridge.ActionSnooze || s == bridge.ActionHandOver {
		switch {
		case a.record.State.Final():
			return e.late(ctx, a)
		case s == bridge.ActionSnooze:
			return e.snooze(ctx, a)
		}
		return e.handOver(ctx, a)
	}
	if i.Kind == bridge.KindApproval && a.control.Action == bridge.ActionAll {
		return e.decideAll(ctx, a)
	}
	if i.Kind == bridge.KindApproval {
		return e.clickApproval(ctx, a)
	}
	if a.control.Action == bridge.ActionDecline && i.Declinable {
		return e.settle(ctx, a, declined())
	}
	if a.control.Question >= len(a.fields) && a.control.Action != bridge.ActionStep {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	if a.control.Action == bridge.ActionSubmit {
		return e.submit(ctx, a)
	}
	if _, lone := i.Lone(); a.control.Action == bridge.ActionChoose && (lone && a.fields[0].OneTap() || i.LonePlan()) {
		return e.tap(ctx, a)
	}
	if a.record.State.Final() {
		return e.late(ctx, a)
	}
	return e.edit(ctx, a)
}

func declined() bridge.Response {
	return bridge.Response{State: bridge.StateCancelled, Reason: "declined"}
}

// tap settles an ask whose whole answer is one press.
func (e *Engine) tap(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i, f := a.record.Interaction, a.fields[0]
	n := a.control.Option
	if a.control.Question != 0 || n >= len(f.Options) || i.LonePlan() && f.Options[n].Value != bridge.PlanApprove {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	i.Initial = nil // one tap is the whole answer, whatever was filled in
	d := &bridge.Draft{Answers: map[string]bridge.Answer{f.ID: bridge.TextAnswer(f.Options[n].Value)}}
	resp, problems := i.Respond(d)
	if len(problems) > 0 {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems}, nil
	}
	return e.settle(ctx, a, resp)
}

func (e *Engine) clickApproval(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i, c := a.record.Interaction, a.control
	decisions := i.Decisions()
	var d bridge.Decision
	given := bridge.Given{}
	switch {
	case c.Action == bridge.ActionChoose && c.Option < len(decisions):
		if d = decisions[c.Option]; !d.OnePress(i) {
			return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
		}
	case c.Action != bridge.ActionSubmit:
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	case c.Option == bridge.OptionReason:
		reason, problem := bridge.Question{Widget: bridge.WidgetTextarea}.Check(bridge.TextAnswer(a.Typed), "")
		if problem != "" {
			return typedProblem(problem), nil
		}
		d, given.Reason = bridge.DecideDenyReason, reason.Text
	case c.Option == bridge.OptionEdit && c.Question < len(decisions):
		d, given.Input = decisions[c.Question], json.RawMessage(a.Typed)
	case c.Option == bridge.OptionConfirm && c.Question < len(decisions):
		d, given.Confirm = decisions[c.Question], a.Typed
	}
	r, problem, err := decide(i, d, given)
	switch {
	case err != nil: // a control that this interaction never had
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	case problem != "" && !a.record.State.Final():
		return typedProblem(problem), nil
	}
	return e.settle(ctx, a, r)
}

func typedProblem(problem string) bridge.Verdict {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: problem, Problems: map[int]string{bridge.TypedProblem: problem}}
}
