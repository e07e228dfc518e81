package bridge

import (
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

// Turn goes to a field; forward only past fields whose answers are good.
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
