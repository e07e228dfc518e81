package bridge

import (
	"encoding/json"
	"slices"
)

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
