package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// submit settles an ask with what the person has drafted and just sent.
func (e *Engine) submit(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i := a.record.Interaction
	mine, shown, err := e.store.Draft(ctx, i.ID, a.control.Destination, a.actor)
	if err != nil {
		return bridge.Verdict{}, err
	}
	d := begin(mine, a.actor)
	if a.control.Option == bridge.OptionShown && !a.record.State.Final() && shown != nil && !shown.Actor.Same(a.actor) {
		// What the card shows is somebody else's choice; nobody submits what
		// they do not see.
		if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
			return bridge.Verdict{}, err
		}
		v := a.view(e, &d)
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteNotYours(shown.Actor), View: &v}, nil
	}
	if i.LonePlan() && a.control.Question == 1 {
		a.answers[a.fields[0].ID] = bridge.TextAnswer(bridge.PlanRequestChanges) // what its button said
	}
	a.mergeInto(&d)
	resp, problems := i.Respond(&d)
	if len(problems) > 0 && !a.record.State.Final() {
		if len(a.answers) > 0 { // what was typed is kept for the next try
			if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
				return bridge.Verdict{}, err
			}
		}
		v := a.view(e, &d)
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems, View: &v}, nil
	}
	return e.settle(ctx, a, resp)
}

// firstProblem is the first problem in the order of the fields, as a sentence.
func firstProblem(fields []bridge.Field, problems map[int]string) string {
	for n, f := range fields {
		if p := problems[n]; p != "" {
			if len(fields) == 1 {
				return p
			}
			return f.Label() + ": " + p
		}
	}
	return problems[bridge.TypedProblem]
}

// begin returns a draft to work on: a copy of the person's own, else a fresh
// one.
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

func (a admitted) mergeInto(d *bridge.Draft) {
	for id, v := range a.answers {
		d.Answers[id] = v
		delete(d.Others, id)
	}
	maps.Copy(d.Others, a.others)
}

// settle records the response as this actor's.
func (e *Engine) settle(ctx context.Context, a admitted, r bridge.Response) (bridge.Verdict, error) {
	r.Message = a.pressed()
	if a.denyOnly != "" && r.State != bridge.StateDenied && r.State != bridge.StateCancelled {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteWhy(a.record.Interaction, a.denyOnly)}, nil
	}
	rec, result, refusal, err := e.conclude(ctx, a.actor, a.record, r)
	if err != nil {
		return bridge.Verdict{}, err
	}
	a.record = rec
	if refusal != nil {
		refusal.View = e.shown(ctx, a, nil)
		return *refusal, nil
	}
	switch result {
	case bridge.BallotLate:
		return e.late(ctx, a)
	case bridge.BallotRepeat:
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteVotedBefore}, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictSettled, Note: noteRecorded(rec), View: e.shown(ctx, a, nil)}, nil
}

// pressed is the message that was; nil where the answer came without one.
func (a admitted) pressed() *bridge.MessageRef {
	if a.Ref != (bridge.MessageRef{}) {
		return &a.Ref
	}
	if ref, ok := a.posted[a.control.Destination]; ok && a.Token != "" {
		return &ref
	}
	return nil
}

// late answers a click that changes nothing any more. A card that was taken
// over by a later round shows that round.
func (e *Engine) late(ctx context.Context, a admitted) (bridge.Verdict, error) {
	e.log.Info("late answer", "id", a.record.Interaction.ID, "state", a.record.State, "platform", a.actor.Platform, "user", a.actor.User)
	note := noteLate(a.record, a.actor)
	if a.record.Next != "" {
		head, err := e.head(ctx, a.record)
		if err != nil {
			return bridge.Verdict{}, err
		}
		if a.record = head; !head.State.Final() {
			note = noteAskedAgain
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictLate, Note: note, View: e.shown(ctx, a, nil)}, nil
}

// nonce names what this person decided, so that a delivery repeated by the
// service is recognized.
func nonce(actor bridge.Actor, r bridge.Response) string {
	b, _ := json.Marshal(struct { // maps are written in key order, so this is stable
		P, U    string
		State   bridge.State
		Answers map[string]bridge.Answer
		Scope   bridge.Scope
		Reason  string
		Stop    bool            `json:",omitempty"`
		Input   json.RawMessage `json:",omitempty"`
	}{actor.Platform, actor.User, r.State, r.Answers, r.Scope, r.Reason, r.Stop, r.Input})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Answer settles an interaction for a responder who does not click but sends
// the whole answer, as the API and the command line do. The actor's Person
// must be one of the responders.
func (e *Engine) Answer(ctx context.Context, id bridge.ID, actor bridge.Actor, reply bridge.Reply) (bridge.Record, error) {
	rec, err := e.store.Load(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	i := rec.Interaction
	if i.Kind == bridge.KindNotice {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "a notice asks nothing")
	}
	_, why, err := e.eligible(ctx, i, actor)
	if err != nil {
		return bridge.Record{}, err
	}
	denyOnly := ""
	if mayDeny(i, why) && reply.Denies() {
		denyOnly, why = why, ""
	}
	if actor.Person == "" || why != "" {
		e.refuse(ctx, i, actor, why)
		return bridge.Record{}, bridge.Errorf(bridge.CodeForbidden, "you may not answer this: %s", why).WithHint("who may: %s", responderNames(i))
	}
	read := 0
	if reply.Terms != nil {
		read = *reply.Terms
	}
	if read != i.Terms && reply.Decision.Approves() && !rec.State.Final() {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "%s", noteChanged)
	}
	for qid := range reply.Answers {
		if !slices.ContainsFunc(i.Questions, func(q bridge.Question) bool { return q.ID == qid }) {
			return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "answers: there is no question %q", qid)
		}
	}
	rec.Interaction.Initial = nil // a whole answer says itself what it keeps
	given, problem := i.Split(reply.Answers)
	if problem != "" {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "answers: %s", problem)
	}
	a := admitted{Click: bridge.Click{Actor: actor}, record: rec, denyOnly: denyOnly, fields: i.Fields(), actor: actor, answers: given, others: reply.Others}
	if a.others == nil {
		a.others = map[string]string{}
	}
	v, err := e.applyReply(ctx, a, reply)
	switch {
	case err != nil:
		return bridge.Record{}, err
	case v.Kind == bridge.VerdictInvalid:
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "answers: %s", v.Note)
	case v.Kind == bridge.VerdictForbidden:
		return bridge.Record{}, bridge.Errorf(bridge.CodeForbidden, "%s", v.Note)
	case v.Kind == bridge.VerdictLate:
		got, err := e.Get(ctx, id)
		if err != nil {
			return bridge.Record{}, err
		}
		return got, bridge.Errorf(bridge.CodeConflict, "%s", v.Note)
	}
	return e.Get(ctx, id)
}

func (e *Engine) applyReply(ctx context.Context, a admitted, reply bridge.Reply) (bridge.Verdict, error) {
	i := a.record.Interaction
	switch {
	case i.Kind == bridge.KindApproval:
		r, problem, err := decide(i, reply.Decision, bridge.Given{Reason: reply.Reason, Input: reply.Input, Confirm: reply.Confirm})
		if err != nil {
			return bridge.Verdict{}, err
		}
		if problem != "" {
			return typedProblem(problem), nil
		}
		return e.settle(ctx, a, r)
	case reply.Decline && !i.Declinable:
		return bridge.Verdict{}, bridge.Errorf(bridge.CodeInvalid, "decline: is not on offer")
	case reply.Decline:
		r := declined()
		if reply.Reason != "" {
			r.Reason = reply.Reason
		}
		return e.settle(ctx, a, r)
	}
	return e.submit(ctx, a)
}
