package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// admitted is a click that passed the checks every click must pass.
type admitted struct {
	Click
	control Control
	record  Record
	actor   Actor // with Person set
	answers map[string]Answer
	others  map[string]string
}

func (a admitted) view(e *Engine, d *Draft) View {
	return NewView(a.record, a.control.Destination, d, e.keys.Sign)
}

// admit checks token, place and person. A verdict other than nil is the
// answer to the click.
func (e *Engine) admit(ctx context.Context, c Click) (admitted, *Verdict, error) {
	a := admitted{Click: c, actor: c.Actor}
	var err error
	if a.control, err = e.keys.Verify(c.Token); err != nil {
		e.log.Warn("forged control", "platform", c.Actor.Platform, "user", c.Actor.User)
		return a, &Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	a.record, err = e.store.Load(ctx, a.control.Interaction)
	if ErrorCode(err) == CodeNotFound {
		e.log.Warn("click on an unknown interaction", "id", a.control.Interaction, "platform", c.Actor.Platform, "user", c.Actor.User)
		return a, &Verdict{Kind: VerdictUnknown, Note: noteUnknown}, nil
	}
	if err != nil {
		return a, nil, err
	}
	i := a.record.Interaction
	if !a.inPlace() {
		e.log.Warn("control used out of its place", "id", i.ID, "platform", c.Actor.Platform, "user", c.Actor.User, "channel", c.Ref.Channel)
		return a, &Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	n := slices.IndexFunc(i.Responders, func(r Responder) bool {
		return r.Platform == c.Actor.Platform && r.User == c.Actor.User
	})
	if n < 0 {
		return a, &Verdict{Kind: VerdictForbidden, Note: noteForbidden(i)}, nil
	}
	a.actor.Person = i.Responders[n].Person
	if !a.resolve() {
		return a, &Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	return a, nil, nil
}

// resolve turns inputs, which name questions and options by index, into
// answers; false for an index that does not exist.
func (a *admitted) resolve() bool {
	a.answers, a.others = map[string]Answer{}, map[string]string{}
	questions := a.record.Interaction.Questions
	for n, in := range a.Inputs {
		if n < 0 || n >= len(questions) {
			return false
		}
		q := questions[n]
		values := []string{}
		if q.FreeText() {
			in.Options = nil
		}
		for _, o := range in.Options {
			if o < 0 || o >= len(q.Options) {
				return false
			}
			values = append(values, q.Options[o].Value)
		}
		switch {
		case in.KeepOptions:
		case q.FreeText():
			a.answers[q.ID] = TextAnswer(in.Text)
		case q.Multiple() || len(values) > 1: // several where one is wanted: the check says so
			a.answers[q.ID] = ListAnswer(values...)
		case len(values) == 1:
			a.answers[q.ID] = TextAnswer(values[0])
		default:
			a.answers[q.ID] = Answer{}
		}
		if in.Other != "" {
			a.others[q.ID] = in.Other
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
	if a.Ref == (MessageRef{}) {
		return true // the service authenticated the form but does not say where it was opened
	}
	// A click may overtake the note of where its card was posted.
	ref, posted := a.record.Messages[a.control.Destination]
	return !posted || a.Ref.Channel == ref.Channel
}

// Form implements Sink.
func (e *Engine) Form(ctx context.Context, c Click) (Form, Verdict, error) {
	a, v, err := e.admit(ctx, c)
	if err != nil || v != nil {
		return Form{}, orZero(v), err
	}
	if a.control.Action != ActionInput || (a.control.Question >= max(1, len(a.record.Interaction.Questions))) {
		return Form{}, Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	if a.record.State.Final() {
		return Form{}, e.late(a), nil
	}
	mine, _, err := e.store.Draft(ctx, a.record.Interaction.ID, a.control.Destination, a.actor)
	if err != nil {
		return Form{}, Verdict{}, err
	}
	return Form{View: a.view(e, mine), Control: a.control}, Verdict{}, nil
}

func orZero(v *Verdict) Verdict {
	if v == nil {
		return Verdict{}
	}
	return *v
}

// Click implements Sink.
func (e *Engine) Click(ctx context.Context, c Click) (Verdict, error) {
	a, v, err := e.admit(ctx, c)
	if err != nil || v != nil {
		return orZero(v), err
	}
	i := a.record.Interaction
	if i.Kind == KindApproval {
		return e.clickApproval(ctx, a)
	}
	if a.control.Question >= len(i.Questions) && a.control.Action != ActionStep {
		return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	if a.control.Action == ActionSubmit {
		return e.submit(ctx, a)
	}
	if a.control.Action == ActionChoose && len(i.Questions) == 1 && i.Questions[0].OneTap() {
		q := i.Questions[0]
		if a.control.Option >= len(q.Options) {
			return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
		}
		return e.settle(ctx, a, Response{State: StateAnswered, Answers: map[string]Answer{q.ID: TextAnswer(q.Options[a.control.Option].Value)}})
	}
	if a.record.State.Final() {
		return e.late(a), nil
	}
	return e.edit(ctx, a)
}

func (e *Engine) clickApproval(ctx context.Context, a admitted) (Verdict, error) {
	i := a.record.Interaction
	decisions := i.Decisions()
	switch {
	case a.control.Action == ActionChoose && a.control.Option < len(decisions) && decisions[a.control.Option] != DecideDenyReason:
		r, _ := i.decide(decisions[a.control.Option], "")
		return e.settle(ctx, a, r)
	case a.control.Action == ActionSubmit && a.control.Option == OptionReason:
		reason, problem := Question{Widget: WidgetTextarea}.Check(TextAnswer(a.Reason), "")
		if problem != "" {
			return Verdict{Kind: VerdictInvalid, Note: problem, Problems: map[int]string{ReasonProblem: problem}}, nil
		}
		r, _ := i.decide(DecideDenyReason, reason.Text)
		return e.settle(ctx, a, r)
	}
	return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
}

// submit settles an ask with what the person has drafted and just sent.
func (e *Engine) submit(ctx context.Context, a admitted) (Verdict, error) {
	i := a.record.Interaction
	mine, shown, err := e.store.Draft(ctx, i.ID, a.control.Destination, a.actor)
	if err != nil {
		return Verdict{}, err
	}
	d := begin(mine, a.actor)
	if a.control.Option == OptionShown && !a.record.State.Final() && shown != nil && !shown.Actor.Same(a.actor) {
		// What the card shows is somebody else's choice; nobody submits what
		// they do not see.
		if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
			return Verdict{}, err
		}
		v := a.view(e, &d)
		return Verdict{Kind: VerdictInvalid, Note: noteNotYours(shown.Actor), View: &v}, nil
	}
	a.mergeInto(&d)
	resp := Response{State: StateAnswered, Answers: map[string]Answer{}, Annotations: map[string]Annotation{}}
	problems := map[int]string{}
	first := ""
	for n, q := range i.Questions {
		given, ok := d.Answers[q.ID]
		if !ok && d.Others[q.ID] == "" && q.Default != nil {
			given = *q.Default
		}
		answer, problem := q.Check(given, d.Others[q.ID])
		if problem != "" {
			problems[n] = problem
			if first == "" {
				first = noteProblem(i, q, problem)
			}
			continue
		}
		if !answer.Empty() || answer.List != nil {
			resp.Answers[q.ID] = answer
		}
		if d.Others[q.ID] != "" {
			resp.Annotations[q.ID] = Annotation{Other: true}
		}
	}
	if len(problems) > 0 && !a.record.State.Final() {
		if len(a.answers) > 0 { // what was typed is kept for the next try
			if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
				return Verdict{}, err
			}
		}
		v := a.view(e, &d)
		return Verdict{Kind: VerdictInvalid, Note: first, Problems: problems, View: &v}, nil
	}
	return e.settle(ctx, a, resp)
}

// begin returns a draft to work on: a copy of the person's own, else a fresh
// one.
func begin(mine *Draft, actor Actor) Draft {
	d := Draft{}
	if mine != nil {
		d = *mine
	}
	d.Actor, d.Answers, d.Others = actor, maps.Clone(d.Answers), maps.Clone(d.Others)
	if d.Answers == nil {
		d.Answers = map[string]Answer{}
	}
	if d.Others == nil {
		d.Others = map[string]string{}
	}
	return d
}

func (a admitted) mergeInto(d *Draft) {
	for id, v := range a.answers {
		d.Answers[id] = v
		delete(d.Others, id)
	}
	maps.Copy(d.Others, a.others)
}

// settle records the response as this actor's.
func (e *Engine) settle(ctx context.Context, a admitted, r Response) (Verdict, error) {
	i := a.record.Interaction
	r.Actor, r.At, r.Digest = &a.actor, time.Now().UTC().Truncate(time.Millisecond), i.Digest
	if r.Annotations == nil {
		r.Annotations = map[string]Annotation{}
	}
	rec, won, err := e.store.Settle(ctx, Settlement{ID: i.ID, Cause: CauseAnswer, Response: r, Nonce: nonce(a.actor, r)})
	if err != nil {
		return Verdict{}, err
	}
	a.record = rec
	if !won {
		return e.late(a), nil
	}
	e.log.Info("settled", "id", i.ID, "state", rec.State, "platform", a.actor.Platform, "user", a.actor.User)
	if err := e.remember(ctx, rec); err != nil {
		e.log.Warn("grant not stored yet, the waiting agent's read will store it", "id", i.ID, "error", err)
	}
	v := a.view(e, nil)
	return Verdict{Kind: VerdictSettled, Note: noteRecorded(rec), View: &v}, nil
}

func (e *Engine) late(a admitted) Verdict {
	v := a.view(e, nil)
	return Verdict{Kind: VerdictLate, Note: noteLate(a.record, a.actor), View: &v}
}

// nonce names what this person decided, so that a delivery repeated by the
// service is recognised.
func nonce(actor Actor, r Response) string {
	b, _ := json.Marshal(struct { // maps are written in key order, so this is stable
		P, U    string
		State   State
		Answers map[string]Answer
		Scope   Scope
		Reason  string
	}{actor.Platform, actor.User, r.State, r.Answers, r.Scope, r.Reason})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Answer settles an interaction for a responder who does not click but sends
// the whole answer, as the API and the command line do. Decision is set for
// an approval, answers for an ask. The actor's Person must be one of the
// responders.
func (e *Engine) Answer(ctx context.Context, id ID, actor Actor, d Decision, reason string, answers map[string]Answer, others map[string]string) (Record, error) {
	rec, err := e.store.Load(ctx, id)
	if err != nil {
		return Record{}, err
	}
	i := rec.Interaction
	if actor.Person == "" || !slices.ContainsFunc(i.Responders, func(r Responder) bool { return r.Person == actor.Person }) {
		return Record{}, Errorf(CodeForbidden, "you may not answer this").WithHint("who may: %s", responderNames(i))
	}
	for qid := range answers {
		if !slices.ContainsFunc(i.Questions, func(q Question) bool { return q.ID == qid }) {
			return Record{}, Errorf(CodeInvalid, "answers: there is no question %q", qid)
		}
	}
	a := admitted{Click: Click{Actor: actor, Reason: reason}, record: rec, actor: actor, answers: answers, others: others}
	var v Verdict
	if i.Kind == KindApproval {
		r, ok := i.decide(d, reason)
		if !ok {
			return Record{}, Errorf(CodeInvalid, "decision: %q is not on offer", d).WithHint("use one of %v", i.Decisions())
		}
		v, err = e.settle(ctx, a, r)
	} else {
		v, err = e.submit(ctx, a)
	}
	switch {
	case err != nil:
		return Record{}, err
	case v.Kind == VerdictInvalid:
		return Record{}, Errorf(CodeInvalid, "answers: %s", v.Note)
	case v.Kind == VerdictLate:
		return v.View.Record, Errorf(CodeConflict, "%s", v.Note)
	}
	return v.View.Record, nil
}
