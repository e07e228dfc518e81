package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// edit applies a click that changes a draft and settles nothing.
func (e *Engine) edit(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i := a.record.Interaction
	mine, _, err := e.store.Draft(ctx, i.ID, a.control.Destination, a.actor)
	if err != nil {
		return bridge.Verdict{}, err
	}
	d := begin(mine, a.actor)
	problems, ok := a.apply(&d)
	if !ok {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	if len(problems) > 0 && len(a.answers) == 0 && len(a.others) == 0 {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems}, nil
	}
	// What was typed is kept, also when it has to be corrected.
	if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
		return bridge.Verdict{}, err
	}
	v := e.viewFor(a, &d)
	if len(problems) > 0 {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems, View: &v}, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictDraft, View: &v}, nil
}

// apply changes the draft. It returns problems for the human, by field, and
// false for a control that makes no sense here.
func (a admitted) apply(d *bridge.Draft) (map[int]string, bool) {
	at := a.control.Question
	if a.control.Action == bridge.ActionStep {
		return d.Turn(a.fields, at), at <= len(a.fields)
	}
	f := a.fields[at]
	switch a.control.Action {
	case bridge.ActionPage:
		d.Step, d.Page = at, a.control.Option
	case bridge.ActionChoose, bridge.ActionToggle:
		if a.control.Option >= len(f.Options) || (a.control.Action == bridge.ActionToggle) != f.Multiple() {
			return nil, false
		}
		d.Step = at
		d.Choose(f, f.Options[a.control.Option].Value)
		if len(a.fields) > 1 && f.OneTap() {
			d.Step, d.Page = at+1, 0
		}
	case bridge.ActionPick:
		problems := map[int]string{}
		for n, f := range a.fields {
			given, ok := a.answers[f.ID]
			other, typed := a.others[f.ID]
			if !ok && !typed {
				continue
			}
			if problem := checkPart(f.Question, given, other); problem != "" {
				problems[n] = problem
			}
		}
		a.mergeInto(d)
		if len(problems) == 0 && len(a.fields) > 1 && d.Step == at {
			d.Step, d.Page = at+1, 0
		}
		return problems, true
	default:
		return nil, false
	}
	return nil, true
}

// checkPart checks a value that may still be completed: nothing is required
// yet.
func checkPart(q bridge.Question, a bridge.Answer, other string) string {
	no := false
	q.Required = &no
	_, problem := q.Check(a, other)
	return problem
}
