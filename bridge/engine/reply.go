package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// answer implements Engine.Answer.
func (cl *Clicks) answer(ctx context.Context, id bridge.ID, actor bridge.Actor, reply bridge.Reply) (bridge.Record, error) {
	a, err := cl.admitReply(ctx, id, actor, reply)
	if err != nil {
		return bridge.Record{}, err
	}
	v, err := cl.applyReply(ctx, &a, reply)
	switch {
	case err != nil:
		return bridge.Record{}, err
	case v.Kind == bridge.VerdictInvalid:
		return bridge.Record{}, invalid(a, v)
	case v.Kind == bridge.VerdictSign:
		e := bridge.Errorf(bridge.CodeForbidden, "%s", v.Note).WithHint("open %s", v.Link)
		e.Link = v.Link
		return bridge.Record{}, e
	case v.Kind == bridge.VerdictForbidden:
		return bridge.Record{}, bridge.Errorf(bridge.CodeForbidden, "%s", v.Note)
	case v.Kind == bridge.VerdictLate:
		got, err := cl.reader.get(ctx, id)
		if err != nil {
			return bridge.Record{}, err
		}
		return got, bridge.Errorf(bridge.CodeConflict, "%s", v.Note)
	}
	return a.Record, a.Record.Trusted()
}

// invalid returns the error for an answer with problems. It names every problem
// and its field.
func invalid(a Click, v bridge.Verdict) error {
	var all []bridge.FieldError
	for n, f := range a.fields {
		if p := v.Problems[n]; p != "" {
			all = append(all, bridge.FieldError{Field: "answers." + strings.ReplaceAll(f.ID, "/", "."), Message: p})
		}
	}
	if len(all) == 0 {
		field := "answers"
		if a.Record.Interaction.Approval != nil {
			field = "confirm"
		}
		return bridge.Errorf(bridge.CodeInvalid, "%s: %s", field, v.Note)
	}
	return bridge.Invalid(all...)
}

// admitReply checks a reply in the same way as the deciders check a click.
func (cl *Clicks) admitReply(
	ctx context.Context, id bridge.ID, actor bridge.Actor, reply bridge.Reply,
) (Click, error) {
	rec, err := cl.records.Load(ctx, id)
	if err != nil {
		return Click{}, err
	}
	i := rec.Interaction
	if i.Kind == bridge.KindNotice {
		return Click{}, bridge.Errorf(bridge.CodeInvalid, "a notice cannot be answered")
	}
	actor, no := cl.people.Eligible(ctx, i, actor)
	denyOnly := ""
	if no.Denies && reply.Denies() {
		denyOnly, no = words.Why(i, no), people.Refusal{}
	}
	if actor.Person == "" || no.Why != "" {
		cl.journal.Refuse(ctx, i, actor, no.Why)
		return Click{}, bridge.Errorf(no.Code(), "you may not answer this: %s", no.Reason()).WithHint("ask a responder: %s", words.Responders(i))
	}
	if err := unfitReply(rec, reply); err != nil {
		return Click{}, err
	}
	given, err := i.Split("answers", reply.Answers)
	if err != nil {
		return Click{}, err
	}
	a := Click{
		Click: bridge.Click{Actor: actor}, Record: rec, DenyOnly: denyOnly, fields: i.Fields(), Who: actor,
		answers: given, others: reply.Others,
	}
	if a.others == nil {
		a.others = map[string]string{}
	}
	return a, nil
}

// unfitReply returns an error if a reply is for terms or questions other than
// those of the record, or has a reason that no one would see.
func unfitReply(rec bridge.Record, reply bridge.Reply) error {
	i, read := rec.Interaction, 0
	if reply.Terms != nil {
		read = *reply.Terms
	}
	if read != i.Terms && reply.Decision.Approves() && !rec.State.Final() {
		return bridge.Errorf(bridge.CodeConflict, "%s", words.Changed)
	}
	var wrong []bridge.FieldError
	if reply.Reason != "" && !reply.Denies() && reply.Decision != bridge.DecideRespond {
		wrong = append(wrong, bridge.FieldError{Field: "reason", Message: "only a denial or a declined question has a reason"})
	}
	for _, qid := range slices.Sorted(maps.Keys(reply.Answers)) {
		if !slices.ContainsFunc(i.Questions, func(q bridge.Question) bool { return q.ID == qid }) {
			wrong = append(wrong, bridge.FieldError{Field: "answers", Message: fmt.Sprintf("unknown question %q", qid)})
		}
	}
	if len(wrong) > 0 {
		return bridge.Invalid(wrong...)
	}
	return nil
}

func (cl *Clicks) applyReply(ctx context.Context, a *Click, reply bridge.Reply) (bridge.Verdict, error) {
	i := a.Record.Interaction
	switch {
	case i.Kind == bridge.KindApproval:
		r, problem, err := decide(i, reply.Decision, bridge.Given{Reason: reply.Reason, Input: reply.Input, Confirm: reply.Confirm})
		if err != nil {
			return bridge.Verdict{}, err
		}
		if problem != "" {
			return words.Problem(problem), nil
		}
		return cl.recorded(ctx, a, r)
	case reply.Decline && !i.Declinable:
		return bridge.Verdict{}, bridge.Errorf(bridge.CodeInvalid, "decline: this request cannot be declined")
	case reply.Decline:
		return cl.recorded(ctx, a, declined(reply.Reason))
	}
	return cl.complete(ctx, a)
}

// recorded records the response of a reply, which has no card.
func (cl *Clicks) recorded(ctx context.Context, a *Click, r bridge.Response) (bridge.Verdict, error) {
	v, _, err := cl.record(ctx, a, r)
	return v, err
}

// complete answers a question with the complete answer of a reply. It ignores
// values that the person has entered on a card.
func (cl *Clicks) complete(ctx context.Context, a *Click) (bridge.Verdict, error) {
	d := begin(nil, a.Who)
	a.mergeInto(&d)
	i := a.Record.Interaction
	i.Initial = nil // a complete answer does not use initial values
	resp, problems := i.Respond(&d)
	if len(problems) > 0 && !a.Record.State.Final() {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: allProblems(a.fields, problems), Problems: problems}, nil
	}
	return cl.recorded(ctx, a, resp)
}
