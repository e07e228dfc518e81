package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// MaxFields bounds the inputs of one interaction; an index fits one byte of a
// token.
const MaxFields = 50

// Parts of a plan_review.
const (
	PartDecision       = "decision"
	PartFeedback       = "feedback"
	PlanApprove        = "approve"
	PlanRequestChanges = "request_changes"
)

// Field is one input that a human fills: a question, or a part of one that has
// several. Its ID is the question's, or the question's and the part's with a
// slash between them, which no question id holds.
type Field struct {
	Question
	Of      int    // index of the question
	Part    string // key in the question's object; empty: the field is the question
	Initial *Answer
	boolean bool // options are true and false, and the value is JSON
}

// Fields lists the inputs of an ask in the order they are shown; none for an
// approval. Controls name fields by their index in it.
func (r Ask) Fields() []Field {
	out := fieldsOf(r.Questions)
	if len(r.Initial) == 0 {
		return out
	}
	initial, _ := r.Split(r.Initial) // Normalize refused what does not fit
	for n, f := range out {
		if a, ok := initial[f.ID]; ok {
			out[n].Initial = &a
		}
	}
	return out
}

func fieldsOf(questions []Question) []Field {
	var out []Field
	for n, q := range questions {
		out = append(out, q.fields(n)...)
	}
	return out
}

// fields are the inputs of the question, with the defaults of its parts.
func (q Question) fields(of int) []Field {
	if !q.Composite() {
		return []Field{{Question: q, Of: of}}
	}
	out := q.parts(of)
	if q.Default == nil {
		return out
	}
	defaults, _ := q.Default.Object() // Normalize refused what is none
	for n, f := range out {
		if a, ok := defaults[f.Part]; ok {
			a = f.unwrap(a)
			out[n].Default = &a
		}
	}
	return out
}

func (q Question) parts(of int) []Field {
	optional := false
	switch q.Widget {
	case WidgetPlanReview:
		return []Field{
			partField(q, of, PartDecision, Question{Widget: WidgetRadio, Header: q.Header, Text: cmp.Or(q.Text, "Approve this plan?"), Required: &optional, Options: []Option{
				{Value: PlanApprove, Label: "Approve"}, {Value: PlanRequestChanges, Label: "Request changes"},
			}}),
			partField(q, of, PartFeedback, Question{Widget: WidgetTextarea, Text: "What has to change?", Required: &optional, MaxLength: DefaultMaxLength}),
		}
	case WidgetFeedback:
		var out []Field
		for _, item := range q.Items {
			out = append(out, partField(q, of, item.ID, Question{Widget: WidgetTextarea, Text: item.Content, Required: &optional, Placeholder: q.Placeholder, MaxLength: q.MaxLength}))
		}
		return out
	case WidgetForm:
		fields, err := ParseSchema(q.Schema)
		if err != nil {
			return nil // Normalize refused it
		}
		for n := range fields {
			part := partField(q, of, fields[n].Part, fields[n].Question)
			part.boolean = fields[n].boolean
			fields[n] = part
		}
		return fields
	}
	return nil
}

// partField returns the field of a part of a question.
func partField(q Question, of int, part string, f Question) Field {
	f.ID = q.ID + "/" + part
	return Field{Question: f, Of: of, Part: part}
}

// LonePlan reports whether the ask is one plan review: then Approve is one
// tap, and Request changes opens a text input.
func (r Ask) LonePlan() bool {
	return len(r.Questions) == 1 && r.Questions[0].Widget == WidgetPlanReview
}

// Lone returns the only field of an ask that has no other; false where there
// are several or none.
func (r Ask) Lone() (Field, bool) {
	if f := r.Fields(); len(f) == 1 {
		return f[0], true
	}
	return Field{}, false
}

// FormFields are the indexes of the fields that a form shows which asks for
// everything at once.
func (r Ask) FormFields() []int {
	if r.LonePlan() {
		return []int{1}
	}
	out := make([]int, len(r.Fields()))
	for n := range out {
		out[n] = n
	}
	return out
}

// FieldAnswer finds the answer of a field among the answers by question.
func (f Field) FieldAnswer(i Interaction, answers map[string]Answer) Answer {
	a := answers[i.Questions[f.Of].ID]
	if f.Part == "" {
		return a
	}
	m, _ := a.Object()
	return f.unwrap(m[f.Part])
}

// unwrap turns a JSON value of an object into the field's own.
func (f Field) unwrap(a Answer) Answer {
	if f.boolean && a.JSON != nil {
		return TextAnswer(string(a.JSON))
	}
	return a
}

// Split turns answers by question id into answers by field id. A problem
// names what is not a part of a question.
func (r Ask) Split(answers map[string]Answer) (map[string]Answer, string) {
	out := map[string]Answer{}
	for _, q := range r.Questions {
		a, given := answers[q.ID]
		if !given {
			continue
		}
		if !q.Composite() {
			out[q.ID] = a
			continue
		}
		m, ok := a.Object()
		if !ok {
			return nil, q.ID + " wants an object"
		}
		fields := q.fields(0)
		for part, v := range m {
			n := slices.IndexFunc(fields, func(f Field) bool { return f.Part == part })
			if n < 0 {
				return nil, q.ID + " has no " + strconv.Quote(part)
			}
			out[fields[n].ID] = fields[n].unwrap(v)
		}
	}
	return out, ""
}

// compose makes a question's answer of its fields' checked answers. It returns
// the field, by part, that is wrong in view of the others, and why.
func (q Question) compose(fields []Field, given map[string]Answer) (Answer, string, string) {
	if !q.Composite() {
		return given[q.ID], "", ""
	}
	of := func(part string) Answer { return given[q.ID+"/"+part] }
	switch q.Widget {
	case WidgetPlanReview:
		return reviewAnswer(of(PartDecision).Text, of(PartFeedback).Text, q.IsRequired())
	case WidgetFeedback:
		return feedbackAnswer(fields, of, q.IsRequired())
	}
	keys, values := []string{}, map[string]Answer{}
	for _, f := range fields {
		a := of(f.Part)
		if a.Empty() && a.List == nil {
			continue
		}
		if f.boolean {
			a = JSONAnswer(a.Text)
		}
		keys, values[f.Part] = append(keys, f.Part), a
	}
	return object(keys, values), "", ""
}

// reviewAnswer is compose for a plan.
func reviewAnswer(decision, feedback string, required bool) (Answer, string, string) {
	switch {
	case decision == "" && feedback != "":
		decision = PlanRequestChanges
	case decision == "" && required:
		return Answer{}, PartDecision, "Choose one first."
	case decision == "":
		return Answer{}, "", ""
	case decision == PlanRequestChanges && feedback == "":
		return Answer{}, PartFeedback, "Say what has to change."
	case decision == PlanApprove && feedback != "":
		return Answer{}, PartDecision, "Approve takes no feedback. Choose Request changes, or empty the text."
	}
	keys, values := []string{PartDecision}, map[string]Answer{PartDecision: TextAnswer(decision)}
	if feedback != "" {
		keys, values[PartFeedback] = append(keys, PartFeedback), TextAnswer(feedback)
	}
	return object(keys, values), "", ""
}

// feedbackAnswer is compose for comments on items.
func feedbackAnswer(fields []Field, of func(part string) Answer, required bool) (Answer, string, string) {
	keys, values, some := []string{}, map[string]Answer{}, false
	for _, f := range fields {
		keys, values[f.Part] = append(keys, f.Part), of(f.Part)
		some = some || !of(f.Part).Empty()
	}
	if !some && required {
		return Answer{}, fields[0].Part, "Write at least one comment."
	}
	return object(keys, values), "", ""
}

// object writes an object with its members in order.
func object(keys []string, values map[string]Answer) Answer {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, k := range keys {
		if n > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(k) // strings and answers always marshal
		value, _ := json.Marshal(values[k])
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return Answer{JSON: b.Bytes()}
}

// Label names a field for a sentence.
func (f Field) Label() string {
	for _, s := range []string{f.Header, f.Text, f.Part, f.ID} {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}
