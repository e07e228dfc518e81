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
