package bridge

import (
	"encoding/json"
	"slices"
)

// Respond makes a response of a draft, or says what is wrong by field.
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
	for n, q := range r.Questions {
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

// Denies reports whether the reply approves and answers nothing.
func (r Reply) Denies() bool {
	return r.Decline || slices.Contains(allDecisions, r.Decision) && !r.Decision.Approves()
}
