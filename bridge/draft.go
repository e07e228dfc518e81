package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
)

// OptionShown is the Option of an ActionSubmit that submits the draft on the
// card.
const OptionShown = 3

// Draft is the unfinished answer of one person. The zero value is an empty
// draft at the first question.
type Draft struct {
	Actor   Actor             `json:"actor"`
	Answers map[string]Answer `json:"answers,omitempty"`
	Others  map[string]string `json:"others,omitempty"`
	Step    int               `json:"step,omitempty"` // index of the shown question; len(Questions): the review
	Page    int               `json:"page,omitempty"` // page of its options
	// Input is the edited input of an approval that the person has not yet
	// confirmed. It is a string, so that the store keeps it byte for byte.
	Input string `json:"input,omitempty"`
	// Change counts the changes of all drafts of an interaction. A draft with a
	// higher number is newer. It is zero until the draft is stored.
	Change int64 `json:"change,omitempty"`
}

// Same reports whether two drafts are stored as the same value, apart from the
// proof. Either can be nil.
func (d *Draft) Same(other *Draft) bool {
	if d == nil || other == nil {
		return d == other
	}
	x, err1 := json.Marshal(d)
	y, err2 := json.Marshal(other)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// nulls returns the explicit nulls among the answers.
func (d *Draft) nulls() map[string]Answer {
	out := map[string]Answer{}
	if d != nil {
		for id, a := range d.Answers {
			if a.null() {
				out[id] = a
			}
		}
	}
	return out
}

// Choose sets the answer of a field to an option. For a field that takes several
// options, it toggles the option.
func (d *Draft) Choose(f Field, value string) {
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

// Joined returns the answer after an input for a part of the answer. If a field
// accepts only one option, its choice is kept unless the part contains another
// one.
func (f Field) Joined(before, chosen Answer, part Input) Answer {
	values := chosen.Values()
	if !f.Multiple() && len(values) > 0 {
		return chosen
	}
	for _, v := range before.Values() {
		n := f.optionIndex(v)
		if n < 0 || n >= part.From && n < part.To {
			continue
		}
		if !f.Multiple() {
			return before
		}
		values = append(values, v)
	}
	if f.Multiple() {
		return ListAnswer(values...)
	}
	return chosen
}

// Turn moves to a field. It moves forward only past fields with valid answers.
// Otherwise, it returns the first problem of each field.
func (d *Draft) Turn(fields []Field, to int) map[int]string {
	for n := d.Step; n < to && n < len(fields); n++ {
		given, other := d.Value(fields[n])
		if _, problem := fields[n].Check(given, other); problem != "" {
			return map[int]string{n: problem}
		}
	}
	d.Step, d.Page = to, 0
	return nil
}

// Value returns the answer of the draft to a field, and the text typed
// alongside the options. If the draft has no answer, it returns the initial
// value or the default of the field. If there is no such value either, it
// returns the zero Answer and "". A nil draft is empty.
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

// apart splits an earlier answer into the chosen options and the typed text.
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

// Respond returns the response for a draft, and the problems by field.
func (r Ask) Respond(d *Draft) (Response, map[int]string) {
	resp := Response{State: StateAnswered, Answers: map[string]Answer{}, Annotations: map[string]Annotation{}}
	problems := map[int]string{}
	checked := map[string]Answer{}
	fields := r.Fields()
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
			resp.Annotations[r.Questions[f.Of].ID] = note
		}
	}
	for id, a := range d.nulls() { // problems of inner objects, which are not fields
		if _, field := checked[id]; !field {
			checked[id] = a
		}
	}
	for n, q := range r.Questions {
		parts, at := partsOf(fields, n)
		if anyOf(problems, at, len(parts)) {
			continue
		}
		answer, part, problem := q.compose(parts, checked)
		if problem != "" {
			k := slices.IndexFunc(parts, func(f Field) bool { return f.Part == part })
			problems[at+k] = problem
		}
		if !answer.Empty() || answer.List != nil {
			resp.Answers[q.ID] = answer
		}
	}
	return resp, problems
}

// anyOf reports whether any of n fields has a problem.
func anyOf(problems map[int]string, from, n int) bool {
	for k := from; k < from+n; k++ {
		if problems[k] != "" {
			return true
		}
	}
	return false
}

// partsOf returns the fields of a question, and the index of the first.
func partsOf(fields []Field, question int) ([]Field, int) {
	from := slices.IndexFunc(fields, func(f Field) bool { return f.Of == question })
	to := from
	for to < len(fields) && fields[to].Of == question {
		to++
	}
	return fields[from:to], from
}

// Recorded is the answer to a [Reply]: the record after the reply.
type Recorded struct {
	ID       ID    `json:"id"`
	State    State `json:"state"` // pending if more people have to approve
	Revision int64 `json:"revision"`
}

// Reply is a complete response that was sent without a click.
type Reply struct {
	// Decision is the decision on an approval.
	Decision Decision `json:"decision,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	// Input is the edited input, for the decision edit.
	Input json.RawMessage `json:"input,omitempty"`
	// Confirm is the typed confirmation, if the approval requires one.
	Confirm string `json:"confirm,omitempty"`
	// Answers holds answers by question ID. Others holds texts in addition to
	// the options.
	Answers map[string]Answer `json:"answers,omitempty"`
	Others  map[string]string `json:"others,omitempty"`
	// Terms is the value of Interaction.Terms in the request that the person
	// read. If the requirements have changed since, nothing is approved. Nil
	// means zero, which stands for the requirements at opening.
	Terms *int `json:"terms,omitempty"`
	// Decline means that the person declines the question without an answer.
	Decline bool `json:"decline,omitempty"`
}

// Denies reports whether the reply denies or declines.
func (r Reply) Denies() bool {
	return r.Decline || slices.Contains(allDecisions, r.Decision) && r.Decision.Denies()
}
