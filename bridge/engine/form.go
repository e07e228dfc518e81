package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// form implements Engine.Form.
func (cl *Clicks) form(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	began := time.Now()
	if bridge.PeekAction(c.Token) == bridge.ActionInput && bridge.PeekOption(c.Token) == bridge.OptionRead {
		return cl.reading(ctx, c)
	}
	f := bridge.Form{}
	a, v, err := cl.admit(ctx, c, &f)
	if v == nil && err == nil {
		var said bridge.Verdict
		f, said, err = cl.formFor(ctx, a)
		f.View.Revealed = true // the person has passed the check
		v = &said
	}
	cl.watcher.Observe(a.activity("form", began, v, err))
	return f, orZero(v), err
}

// reading returns the form with the complete text of a closed request or a
// notice. Everyone who sees the card may read it, unless the request is
// private.
func (cl *Clicks) reading(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	a := arrived(c)
	v, err := cl.Located(ctx, &a)
	if v == nil && err == nil && a.Record.Interaction.Private {
		v, err = cl.MayAnswer(ctx, &a)
	}
	if v == nil && err == nil && !a.Record.State.Final() && a.Record.Interaction.Kind != bridge.KindNotice {
		v = &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}
	}
	if v != nil || err != nil {
		return bridge.Form{}, orZero(v), err
	}
	f := bridge.Form{View: cl.cards.drafted(ctx, a, nil), Control: a.Control}
	f.View.Revealed = true
	return f, bridge.Verdict{}, nil
}

func (cl *Clicks) formFor(ctx context.Context, a Click) (bridge.Form, bridge.Verdict, error) {
	i, c := a.Record.Interaction, a.Control
	approval := i.Kind == bridge.KindApproval
	more := approval && c.Action == bridge.ActionMore
	if c.Action != bridge.ActionInput && !more || c.Option == bridge.OptionReview && !i.Private || c.Question >= max(1, len(a.fields), len(i.Decisions())) {
		return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	if a.Record.State.Final() {
		v, err := cl.late(ctx, a)
		return bridge.Form{}, v, err
	}
	if more {
		return cl.formForMore(ctx, a)
	}
	mine, _, err := cl.drafts.Draft(ctx, i.ID, c.Destination, a.Who)
	if err != nil {
		return bridge.Form{}, bridge.Verdict{}, err
	}
	return bridge.Form{View: cl.cards.drafted(ctx, a, mine), Control: c}, bridge.Verdict{}, nil
}

// formForMore returns the form with the decisions that have no control on the
// card. It offers only denials to people who may only deny, and while the card
// does not show everything that an approval would cover.
func (cl *Clicks) formForMore(ctx context.Context, a Click) (bridge.Form, bridge.Verdict, error) {
	i := a.Record.Interaction
	denies := func(n int) bool { return i.Decisions()[n].Denies() }
	switch all := i.More(); {
	case len(all) == 0 && !i.CanWait():
		return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	case a.DenyOnly == "" || slices.ContainsFunc(all, denies):
		f := bridge.Form{View: cl.cards.drafted(ctx, a, nil), Control: a.Control, DenyOnly: a.DenyOnly != ""}
		return f, bridge.Verdict{}, nil
	case a.DenyOnly == words.Unseen:
		return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictInvalid, Note: words.Unseen}, nil
	case a.DenyOnly == words.Changed:
		return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Changed}, nil
	}
	return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictForbidden, Note: a.DenyOnly}, nil
}

// tap answers a question for which one click is enough.
func (cl *Clicks) tap(ctx context.Context, a Click) (bridge.Verdict, error) {
	i, f := a.Record.Interaction, a.fields[0]
	n := a.Control.Option
	if a.Control.Question != 0 || n >= len(f.Options) || i.LonePlan() && f.Options[n].Value != bridge.PlanApprove {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	i.Initial = nil // the click is the complete answer, regardless of initial values
	d := &bridge.Draft{Answers: map[string]bridge.Answer{f.ID: bridge.TextAnswer(f.Options[n].Value)}}
	resp, problems := i.Respond(d)
	if len(problems) > 0 {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: allProblems(a.fields, problems), Problems: problems}, nil
	}
	return cl.settle(ctx, a, resp)
}

// submit answers a question with the person's draft and the submitted inputs.
func (cl *Clicks) submit(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	mine, shown, err := cl.drafts.Draft(ctx, i.ID, a.Control.Destination, a.Who)
	if err != nil {
		return bridge.Verdict{}, err
	}
	d := begin(mine, a.Who)
	if a.Control.Option == bridge.OptionShown && !a.Record.State.Final() && shown != nil && !shown.Actor.Same(a.Who) {
		// The card shows someone else's choice. People must not submit a choice
		// that they do not see.
		if d, err = cl.keep(ctx, a, func(d *bridge.Draft) bool { return true }); err != nil {
			return bridge.Verdict{}, err
		}
		v := cl.cards.drafted(ctx, a, &d)
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: words.NotYours(shown.Actor), View: &v}, nil
	}
	if i.LonePlan() && a.Control.Question == 1 {
		a.answers[a.fields[0].ID] = bridge.TextAnswer(bridge.PlanRequestChanges) // the option on the clicked button
	}
	a.mergeInto(&d)
	resp, problems := i.Respond(&d)
	if len(problems) > 0 && !a.Record.State.Final() {
		if len(a.answers) > 0 { // typed text is kept for the next attempt
			if d, err = cl.keep(ctx, a, func(d *bridge.Draft) bool { a.mergeInto(d); return true }); err != nil {
				return bridge.Verdict{}, err
			}
		}
		v := cl.cards.drafted(ctx, a, &d)
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: allProblems(a.fields, problems), Problems: problems, View: &v}, nil
	}
	return cl.settle(ctx, a, resp)
}

// edit applies a click that only changes a draft.
func (cl *Clicks) edit(ctx context.Context, a Click) (bridge.Verdict, error) {
	var problems map[int]string
	var ok bool
	nothing := func() bool { return len(problems) > 0 && len(a.answers) == 0 && len(a.others) == 0 }
	d, err := cl.keep(ctx, a, func(d *bridge.Draft) bool {
		problems, ok = a.apply(d)
		return ok && !nothing() // typed text is kept even if it has to be corrected
	})
	switch {
	case err != nil:
		return bridge.Verdict{}, err
	case !ok:
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	case nothing():
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: allProblems(a.fields, problems), Problems: problems}, nil
	}
	v := cl.cards.drafted(ctx, a, &d)
	if len(problems) > 0 {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: allProblems(a.fields, problems), Problems: problems, View: &v}, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictDraft, View: &v}, nil
}

// keep changes and stores the draft of a person; see [Drafts.ChangeDraft]. Other cards
// that show this person's draft are updated, because people must not submit a choice
// that they do not see.
func (cl *Clicks) keep(ctx context.Context, a Click, change func(*bridge.Draft) bool) (bridge.Draft, error) {
	i, changed := a.Record.Interaction, false
	d, err := cl.drafts.ChangeDraft(ctx, i.ID, a.Control.Destination, a.Who, func(mine *bridge.Draft) (bridge.Draft, bool) {
		d := begin(mine, a.Who)
		changed = change(&d)
		return d, changed
	})
	if err != nil || !changed {
		return d, err
	}
	for n := range i.Destinations {
		if n == a.Control.Destination {
			continue
		}
		_, shown, err := cl.drafts.Draft(ctx, i.ID, n, bridge.Actor{})
		if err == nil && shown != nil && shown.Actor.Same(d.Actor) {
			err = cl.cards.drawAgain(ctx, a.Record, n)
		}
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// apply changes the draft. It returns the problems by field, and false for a
// control that is not valid for the request.
func (a Click) apply(d *bridge.Draft) (map[int]string, bool) {
	at := a.Control.Question
	if a.Control.Action == bridge.ActionStep {
		return d.Turn(a.fields, at), at <= len(a.fields)
	}
	f := a.fields[at]
	switch a.Control.Action {
	case bridge.ActionPage:
		d.Step, d.Page = at, a.Control.Option
	case bridge.ActionChoose, bridge.ActionToggle:
		if a.Control.Option >= len(f.Options) || (a.Control.Action == bridge.ActionToggle) != f.Multiple() {
			return nil, false
		}
		d.Step = at
		d.Choose(f, f.Options[a.Control.Option].Value)
		if len(a.fields) > 1 && f.OneTap() {
			d.Step, d.Page = at+1, 0
		}
	case bridge.ActionPick:
		a.mergeInto(d)
		problems := a.checkPicked(d)
		if len(problems) == 0 && len(a.fields) > 1 && d.Step == at {
			d.Step, d.Page = at+1, 0
		}
		return problems, true
	default:
		return nil, false
	}
	return nil, true
}

func (a Click) mergeInto(d *bridge.Draft) {
	for _, f := range a.fields {
		v, ok := a.answers[f.ID]
		if !ok {
			continue
		}
		part, partly := a.parts[f.ID]
		given, other := d.Value(f)
		if partly {
			v = f.Joined(given, v, part)
		}
		d.Answers[f.ID] = v
		delete(d.Others, f.ID)
		if partly && part.KeepOther && other != "" {
			d.Others[f.ID] = other
		}
	}
	for id, v := range a.answers {
		if _, known := d.Answers[id]; !known { // an inner object that is null
			d.Answers[id] = v
		}
	}
	maps.Copy(d.Others, a.others)
}

// begin returns a copy of the person's draft, or a new draft if there is none.
func begin(mine *bridge.Draft, actor bridge.Actor) bridge.Draft {
	d := bridge.Draft{}
	if mine != nil {
		d = *mine
	}
	d.Actor, d.Answers, d.Others = actor, maps.Clone(d.Answers), maps.Clone(d.Others)
	if d.Answers == nil {
		d.Answers = map[string]bridge.Answer{}
	}
	if d.Others == nil {
		d.Others = map[string]string{}
	}
	return d
}

// checkPicked returns the problems with the values of native inputs in a draft,
// by field.
func (a Click) checkPicked(d *bridge.Draft) map[int]string {
	problems := map[int]string{}
	for n, f := range a.fields {
		_, ok := a.answers[f.ID]
		_, typed := a.others[f.ID]
		if !ok && !typed {
			continue
		}
		if _, partly := a.parts[f.ID]; partly {
			f.MinChoices = 0 // another page may contain the rest
		}
		given, other := d.Value(f)
		if problem := checkPart(f, given, other); problem != "" {
			problems[n] = problem
		}
	}
	return problems
}

// checkPart checks a value that may still be completed, so an empty value is
// valid.
func checkPart(f bridge.Field, a bridge.Answer, other string) string {
	no := false
	f.Required = &no
	_, problem := f.Check(a, other)
	return problem
}

// allProblems returns the problems in the order of the fields, each on a line,
// with the field if there are several.
func allProblems(fields []bridge.Field, problems map[int]string) string {
	var out []string
	for n, f := range fields {
		switch p := problems[n]; {
		case p == "":
		case len(fields) == 1:
			return p
		default:
			out = append(out, f.Label()+": "+p)
		}
	}
	if len(out) == 0 {
		return problems[bridge.TypedProblem]
	}
	return strings.Join(out, "\n")
}
