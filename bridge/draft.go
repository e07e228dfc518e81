package bridge

import (
	"context"
	"slices"
)

// OptionShown is the Option of an ActionSubmit that takes the draft which the
// card shows.
const OptionShown = 3

// edit applies a click that changes a draft and settles nothing.
func (e *Engine) edit(ctx context.Context, a admitted) (Verdict, error) {
	i := a.record.Interaction
	mine, _, err := e.store.Draft(ctx, i.ID, a.control.Destination, a.actor)
	if err != nil {
		return Verdict{}, err
	}
	d := begin(mine, a.actor)
	problem, ok := a.apply(&d)
	if !ok {
		return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	if problem != "" {
		return Verdict{Kind: VerdictInvalid, Note: problem, Problems: map[int]string{min(a.control.Question, len(i.Questions)-1): problem}}, nil
	}
	if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
		return Verdict{}, err
	}
	v := a.view(e, &d)
	return Verdict{Kind: VerdictDraft, View: &v}, nil
}

// apply changes the draft. It returns a problem for the human, and false for
// a control that makes no sense here.
func (a admitted) apply(d *Draft) (string, bool) {
	questions := a.record.Interaction.Questions
	if a.control.Action == ActionStep {
		return d.step(questions, a.control.Question), a.control.Question <= len(questions)
	}
	q := questions[a.control.Question]
	switch a.control.Action {
	case ActionPage:
		d.Step, d.Page = a.control.Question, a.control.Option
	case ActionChoose, ActionToggle:
		if a.control.Option >= len(q.Options) || (a.control.Action == ActionToggle) != q.Multiple() {
			return "", false
		}
		d.Step = a.control.Question
		d.choose(q, q.Options[a.control.Option].Value)
		if len(questions) > 1 && q.OneTap() {
			d.Step, d.Page = a.control.Question+1, 0
		}
	case ActionPick:
		for _, q := range questions {
			given, ok := a.answers[q.ID]
			other, typed := a.others[q.ID]
			if !ok && !typed {
				continue
			}
			if problem := checkPart(q, given, other); problem != "" {
				return problem, true
			}
		}
		a.mergeInto(d)
		if len(questions) > 1 && d.Step == a.control.Question {
			d.Step, d.Page = a.control.Question+1, 0
		}
	default:
		return "", false
	}
	return "", true
}

// checkPart checks a value that may still be completed: nothing is required
// yet.
func checkPart(q Question, a Answer, other string) string {
	no := false
	q.Required = &no
	_, problem := q.Check(a, other)
	return problem
}

func (d *Draft) choose(q Question, value string) {
	delete(d.Others, q.ID)
	if !q.Multiple() {
		d.Answers[q.ID] = TextAnswer(value)
		return
	}
	current, ok := d.Answers[q.ID]
	if !ok && q.Default != nil {
		current = *q.Default
	}
	values := slices.Clone(current.Values())
	if n := slices.Index(values, value); n >= 0 {
		values = slices.Delete(values, n, n+1)
	} else {
		values = append(values, value)
	}
	d.Answers[q.ID] = ListAnswer(values...)
}

// step goes to a question; forward only past a question whose answer is good.
func (d *Draft) step(questions []Question, to int) string {
	for n := d.Step; n < to && n < len(questions); n++ {
		q := questions[n]
		given, ok := d.Answers[q.ID]
		if !ok && q.Default != nil {
			given = *q.Default
		}
		if _, problem := q.Check(given, d.Others[q.ID]); problem != "" {
			return problem
		}
	}
	d.Step, d.Page = to, 0
	return ""
}

// Value is what the draft holds for a question, or its default; the zero
// Answer and "" where there is neither. A nil draft holds nothing.
func (d *Draft) Value(q Question) (Answer, string) {
	if d != nil {
		if v, ok := d.Answers[q.ID]; ok || d.Others[q.ID] != "" {
			return v, d.Others[q.ID]
		}
	}
	if q.Default != nil {
		return *q.Default, ""
	}
	return Answer{}, ""
}
