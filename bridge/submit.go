package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

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
	if i.LonePlan() && a.control.Question == 1 {
		a.answers[a.fields[0].ID] = TextAnswer(PlanRequestChanges) // what its button said
	}
	a.mergeInto(&d)
	resp, problems := i.Respond(&d)
	if len(problems) > 0 && !a.record.State.Final() {
		if len(a.answers) > 0 { // what was typed is kept for the next try
			if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
				return Verdict{}, err
			}
		}
		v := a.view(e, &d)
		return Verdict{Kind: VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems, View: &v}, nil
	}
	return e.settle(ctx, a, resp)
}

// Respond makes a response of a draft, or says what is wrong by field.
func (i Interaction) Respond(d *Draft) (Response, map[int]string) {
	resp := Response{State: StateAnswered, Answers: map[string]Answer{}, Annotations: map[string]Annotation{}}
	problems := map[int]string{}
	checked := map[string]Answer{}
	fields := i.Fields()
	for n, f := range fields {
		given, other := d.Value(f)
		answer, problem := f.Check(given, other)
		if problem != "" {
			problems[n] = problem
			continue
		}
		checked[f.ID] = answer
		note := Annotation{Other: other != ""}
		if k := f.optionIndex(answer.Text); k >= 0 && !note.Other {
			note.Preview = f.Options[k].Preview
		}
		if note != (Annotation{}) {
			resp.Annotations[i.Questions[f.Of].ID] = note
		}
	}
	for n, q := range i.Questions {
		parts, at := partsOf(fields, n)
		answer, part, problem := q.compose(parts, checked)
		if problem != "" && len(problems) == 0 {
			k := slices.IndexFunc(parts, func(f Field) bool { return f.Part == part })
			problems[at+k] = problem
		}
		if !answer.Empty() || answer.List != nil {
			resp.Answers[q.ID] = answer
		}
	}
	return resp, problems
}

// partsOf are the fields of a question, and the index of the first.
func partsOf(fields []Field, question int) ([]Field, int) {
	from := slices.IndexFunc(fields, func(f Field) bool { return f.Of == question })
	to := from
	for to < len(fields) && fields[to].Of == question {
		to++
	}
	return fields[from:to], from
}

// firstProblem is the first problem in the order of the fields, as a sentence.
func firstProblem(fields []Field, problems map[int]string) string {
	for n, f := range fields {
		if p := problems[n]; p != "" {
			if len(fields) == 1 {
				return p
			}
			return f.label() + ": " + p
		}
	}
	return problems[TypedProblem]
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
	r.Message = a.pressed()
	if a.denyOnly != "" && r.State != StateDenied && r.State != StateCancelled {
		return Verdict{Kind: VerdictForbidden, Note: noteWhy(a.record.Interaction, a.denyOnly)}, nil
	}
	rec, result, refusal, err := e.conclude(ctx, a.actor, a.record, r)
	if err != nil {
		return Verdict{}, err
	}
	a.record = rec
	if refusal != nil {
		refusal.View = e.shown(ctx, a, nil)
		return *refusal, nil
	}
	switch result {
	case BallotLate:
		return e.late(ctx, a)
	case BallotRepeat:
		return Verdict{Kind: VerdictForbidden, Note: noteVotedBefore}, nil
	}
	return Verdict{Kind: VerdictSettled, Note: noteRecorded(rec), View: e.shown(ctx, a, nil)}, nil
}

// pressed is the message that was; nil where the answer came without one.
func (a admitted) pressed() *MessageRef {
	if a.Ref != (MessageRef{}) {
		return &a.Ref
	}
	if ref, ok := a.posted[a.control.Destination]; ok && a.Token != "" {
		return &ref
	}
	return nil
}

// late answers a click that changes nothing any more. A card that was taken
// over by a later round shows that round.
func (e *Engine) late(ctx context.Context, a admitted) (Verdict, error) {
	e.log.Info("late answer", "id", a.record.Interaction.ID, "state", a.record.State, "platform", a.actor.Platform, "user", a.actor.User)
	note := noteLate(a.record, a.actor)
	if a.record.Next != "" {
		head, err := e.head(ctx, a.record)
		if err != nil {
			return Verdict{}, err
		}
		if a.record = head; !head.State.Final() {
			note = noteAskedAgain
		}
	}
	return Verdict{Kind: VerdictLate, Note: note, View: e.shown(ctx, a, nil)}, nil
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
		Stop    bool            `json:",omitempty"`
		Input   json.RawMessage `json:",omitempty"`
	}{actor.Platform, actor.User, r.State, r.Answers, r.Scope, r.Reason, r.Stop, r.Input})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Reply is a whole answer, as a responder sends it who does not click.
type Reply struct {
	// Decision of an approval.
	Decision Decision `json:"decision,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	// Input approved instead, for the decision edit.
	Input json.RawMessage `json:"input,omitempty"`
	// Confirm is what the approval wants to have typed.
	Confirm string `json:"confirm,omitempty"`
	// Answers to an ask, by question id, and free text beside the options.
	Answers map[string]Answer `json:"answers,omitempty"`
	Others  map[string]string `json:"others,omitempty"`
	// Terms is Interaction.Terms of the request that the person read. If the
	// requirements changed since, nothing is approved. Nil means zero, the
	// requirements that the request was opened with.
	Terms *int `json:"terms,omitempty"`
	// Decline ends a declinable ask without an answer.
	Decline bool `json:"decline,omitempty"`
}

// denies reports whether the reply approves and answers nothing.
func (r Reply) denies() bool {
	return r.Decline || slices.Contains(allDecisions, r.Decision) && !r.Decision.Approves()
}

// Answer settles an interaction for a responder who does not click but sends
// the whole answer, as the API and the command line do. The actor's Person
// must be one of the responders.
func (e *Engine) Answer(ctx context.Context, id ID, actor Actor, reply Reply) (Record, error) {
	rec, err := e.store.Load(ctx, id)
	if err != nil {
		return Record{}, err
	}
	i := rec.Interaction
	if i.Kind == KindNotice {
		return Record{}, Errorf(CodeInvalid, "a notice asks nothing")
	}
	_, why, err := e.eligible(ctx, i, actor)
	if err != nil {
		return Record{}, err
	}
	denyOnly := ""
	if mayDeny(i, why) && reply.denies() {
		denyOnly, why = why, ""
	}
	if actor.Person == "" || why != "" {
		e.refuse(ctx, i, actor, why)
		return Record{}, Errorf(CodeForbidden, "you may not answer this: %s", why).WithHint("who may: %s", responderNames(i))
	}
	read := 0
	if reply.Terms != nil {
		read = *reply.Terms
	}
	if read != i.Terms && reply.Decision.Approves() && !rec.State.Final() {
		return Record{}, Errorf(CodeConflict, "%s", noteChanged)
	}
	for qid := range reply.Answers {
		if !slices.ContainsFunc(i.Questions, func(q Question) bool { return q.ID == qid }) {
			return Record{}, Errorf(CodeInvalid, "answers: there is no question %q", qid)
		}
	}
	rec.Interaction.Initial = nil // a whole answer says itself what it keeps
	given, problem := i.split(reply.Answers)
	if problem != "" {
		return Record{}, Errorf(CodeInvalid, "answers: %s", problem)
	}
	a := admitted{Click: Click{Actor: actor}, record: rec, denyOnly: denyOnly, fields: i.Fields(), actor: actor, answers: given, others: reply.Others}
	if a.others == nil {
		a.others = map[string]string{}
	}
	v, err := e.applyReply(ctx, a, reply)
	switch {
	case err != nil:
		return Record{}, err
	case v.Kind == VerdictInvalid:
		return Record{}, Errorf(CodeInvalid, "answers: %s", v.Note)
	case v.Kind == VerdictForbidden:
		return Record{}, Errorf(CodeForbidden, "%s", v.Note)
	case v.Kind == VerdictLate:
		got, err := e.Get(ctx, id)
		if err != nil {
			return Record{}, err
		}
		return got, Errorf(CodeConflict, "%s", v.Note)
	}
	return e.Get(ctx, id)
}

func (e *Engine) applyReply(ctx context.Context, a admitted, reply Reply) (Verdict, error) {
	i := a.record.Interaction
	switch {
	case i.Kind == KindApproval:
		r, problem, err := i.decide(reply.Decision, Given{Reason: reply.Reason, Input: reply.Input, Confirm: reply.Confirm})
		if err != nil {
			return Verdict{}, err
		}
		if problem != "" {
			return typedProblem(problem), nil
		}
		return e.settle(ctx, a, r)
	case reply.Decline && !i.Declinable:
		return Verdict{}, Errorf(CodeInvalid, "decline: is not on offer")
	case reply.Decline:
		r := declined()
		if reply.Reason != "" {
			r.Reason = reply.Reason
		}
		return e.settle(ctx, a, r)
	}
	return e.submit(ctx, a)
}
