package bridge

import (
	"context"
	"slices"
)

// OptionShown is the Option of an ActionSubmit that takes the draft which the
// card shows.
const OptionShown = 3

// Draft is an answer that one person has begun. The zero value is an empty
// draft at the first question.
type Draft struct {
	Actor   Actor             `json:"actor"`
	Answers map[string]Answer `json:"answers,omitempty"`
	Others  map[string]string `json:"others,omitempty"`
	Step    int               `json:"step,omitempty"` // question shown; len(Questions) is the review
	Page    int               `json:"page,omitempty"` // page of its options
	Proof   string            `json:"proof,omitempty"`
}

// edit applies a click that changes a draft and settles nothing.
func (e *Engine) edit(ctx context.Context, a admitted) (Verdict, error) {
	i := a.record.Interaction
	mine, _, err := e.store.Draft(ctx, i.ID, a.control.Destination, a.actor)
	if err != nil {
		return Verdict{}, err
	}
	d := begin(mine, a.actor)
	problems, ok := a.apply(&d)
	if !ok {
		return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	if len(problems) > 0 && len(a.answers) == 0 && len(a.others) == 0 {
		return Verdict{Kind: VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems}, nil
	}
	// What was typed is kept, also when it has to be corrected.
	if err := e.store.SaveDraft(ctx, i.ID, a.control.Destination, d); err != nil {
		return Verdict{}, err
	}
	v := a.view(e, &d)
	if len(problems) > 0 {
		return Verdict{Kind: VerdictInvalid, Note: firstProblem(a.fields, problems), Problems: problems, View: &v}, nil
	}
	return Verdict{Kind: VerdictDraft, View: &v}, nil
}

// apply changes the draft. It returns problems for the human, by field, and
// false for a control that makes no sense here.
func (a admitted) apply(d *Draft) (map[int]string, bool) {
	at := a.control.Question
	if a.control.Action == ActionStep {
		return d.step(a.fields, at), at <= len(a.fields)
	}
	f := a.fields[at]
	switch a.control.Action {
	case ActionPage:
		d.Step, d.Page = at, a.control.Option
	case ActionChoose, ActionToggle:
		if a.control.Option >= len(f.Options) || (a.control.Action == ActionToggle) != f.Multiple() {
			return nil, false
		}
		d.Step = at
		d.choose(f, f.Options[a.control.Option].Value)
		if len(a.fields) > 1 && f.OneTap() {
			d.Step, d.Page = at+1, 0
		}
	case ActionPick:
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
func checkPart(q Question, a Answer, other string) string {
	no := false
	q.Required = &no
	_, problem := q.Check(a, other)
	return problem
}

func (d *Draft) choose(f Field, value string) {
	current, _ := d.Value(f)
	delete(d.Others, f.ID)
	if !f.Multiple() {
		d.Answers[f.ID] = TextAnswer(value)
		return
	}
	values := slices.Clone(current.Values())
	if n := slices.Index(values, value); n >= 0 {
		values = slices.Delete(values, n, n+1)
	} else {
		values = append(values, value)
	}
	d.Answers[f.ID] = ListAnswer(values...)
}

// step goes to a field; forward only past fields whose answers are good.
func (d *Draft) step(fields []Field, to int) map[int]string {
	for n := d.Step; n < to && n < len(fields); n++ {
		given, other := d.Value(fields[n])
		if _, problem := fields[n].Check(given, other); problem != "" {
			return map[int]string{n: problem}
		}
	}
	d.Step, d.Page = to, 0
	return nil
}

// Value is what the draft holds for a field, or what it was filled in with, or
// its default; the zero Answer and "" where there is none of them. A nil draft
// holds nothing.
func (d *Draft) Value(f Field) (Answer, string) {
	if d != nil {
		if v, ok := d.Answers[f.ID]; ok || d.Others[f.ID] != "" {
			return v, d.Others[f.ID]
		}
	}
	switch {
	case f.Initial != nil && f.AllowOther:
		return f.apart(*f.Initial)
	case f.Initial != nil:
		return *f.Initial, ""
	case f.Default != nil:
		return *f.Default, ""
	}
	return Answer{}, ""
}

// apart tells the options in an earlier answer from the text typed beside
// them.
func (f Field) apart(a Answer) (Answer, string) {
	other, chosen := "", []string{}
	for _, v := range a.Values() {
		if f.optionIndex(v) >= 0 {
			chosen = append(chosen, v)
		} else {
			other = v
		}
	}
	switch {
	case f.Multiple():
		return ListAnswer(chosen...), other
	case len(chosen) > 0:
		return TextAnswer(chosen[0]), other
	}
	return Answer{}, other
}
