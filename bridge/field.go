package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// MaxFields is the maximum number of inputs of one interaction. An index has to
// fit in one byte of a token.
const MaxFields = 50

// Parts of a plan_review, and the values of its decision.
const (
	PartDecision       = "decision"
	PartFeedback       = "feedback"
	PlanApprove        = "approve"
	PlanRequestChanges = "request_changes"
)

// Field is one input: a question, or a part of a question that has several
// parts. The ID of a part is the ID of its question, a slash, and the key of
// the part. A question ID cannot contain a slash.
type Field struct {
	Question
	Of int // index of the question
	// Part is the key of the part in the question's object. A part of an inner
	// object has the key of the object, a slash, and its own key. Part is empty
	// if the field is the complete question.
	Part    string
	Initial *Answer
	// Markdown means that Text is Markdown, as in an item of a feedback.
	Markdown bool

	encoded  bool     // the values of the options are JSON
	lines    *lines   // for a list of texts
	group    *group   // for a property of an inner object
	numbers  *numbers // for a number with limits that are not fields of a question
	nullable bool
	listed   bool // the schema requires the property
}

// Fields returns the inputs of a question in display order. It returns none for
// an approval. Controls refer to fields by their index in this list.
func (r Ask) Fields() []Field {
	out := fieldsOf(r.Questions)
	if len(r.Initial) == 0 {
		return out
	}
	initial, _ := r.Split("initial", r.Initial) // Normalize has checked this
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

// fields returns the inputs of the question, with the defaults of its parts.
func (q Question) fields(of int) []Field {
	if !q.Composite() {
		return []Field{{Question: q, Of: of}}
	}
	out := q.parts(of)
	if q.Default == nil {
		return out
	}
	defaults, _ := q.Default.Object() // Normalize has checked this
	for n, f := range out {
		if a, ok := f.part(defaults); ok {
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
			partField(q, of, PartFeedback, Question{Widget: WidgetTextarea, Text: "What should change?", Required: &optional, MaxLength: DefaultMaxLength}),
		}
	case WidgetFeedback:
		var out []Field
		for _, item := range q.Items {
			f := partField(q, of, item.ID, Question{Widget: WidgetTextarea, Text: item.Content, Required: &optional, Placeholder: q.Placeholder, MaxLength: q.MaxLength})
			f.Markdown = true
			out = append(out, f)
		}
		return out
	case WidgetForm:
		fields, err := ParseSchema(q.Schema)
		if err != nil {
			return nil // unreachable, because Normalize has checked it
		}
		for n := range fields {
			f := &fields[n]
			f.ID, f.Of = q.ID+"/"+f.Part, of
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

// LonePlan reports whether the ask consists of a single plan review. Its
// Approve button answers with one click, and Request changes opens a text
// input.
func (r Ask) LonePlan() bool {
	return len(r.Questions) == 1 && r.Questions[0].Widget == WidgetPlanReview
}

// Lone returns the only field of an ask. It returns false unless there is
// exactly one.
func (r Ask) Lone() (Field, bool) {
	if f := r.Fields(); len(f) == 1 {
		return f[0], true
	}
	return Field{}, false
}

// FormFields returns the indexes of the fields that a form with all inputs
// shows.
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

// FieldAnswer returns the answer of a field from the answers by question ID.
func (f Field) FieldAnswer(i Interaction, answers map[string]Answer) Answer {
	a := answers[i.Questions[f.Of].ID]
	if f.Part == "" {
		return a
	}
	m, _ := a.Object()
	v, _ := f.part(m)
	return v
}

// Split converts answers by question ID into answers by field ID. It returns
// CodeInvalid, with the paths of the problems below at, if an answer does not
// have the form that its question requires.
func (r Ask) Split(at string, answers map[string]Answer) (map[string]Answer, error) {
	out := map[string]Answer{}
	var wrong Problems
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
			wrong.Add(Errorf(CodeInvalid, "%s.%s: must be an object", at, q.ID))
			continue
		}
		fields := q.fields(0)
		for _, part := range slices.Sorted(maps.Keys(m)) {
			if !splitPart(fields, part, m[part], out) {
				wrong.Add(Errorf(CodeInvalid, "%s.%s.%s: unknown", at, q.ID, part))
			}
		}
	}
	return out, wrong.Err()
}

// splitPart adds the values of one member of a question's object to out, by
// field ID. The member is a part, or an inner object with several parts. It
// returns false if there is no such part.
func splitPart(fields []Field, part string, v Answer, out map[string]Answer) bool {
	if n := slices.IndexFunc(fields, func(f Field) bool { return f.Part == part }); n >= 0 {
		out[fields[n].ID] = fields[n].unwrap(v)
		return true
	}
	grouped, known := false, 0
	for _, f := range fields {
		if f.group == nil || f.group.name != part {
			continue
		}
		grouped = true
		if v.Empty() {
			if v.null() {
				id, _ := strings.CutSuffix(f.ID, f.Part)
				out[id+part] = v // the inner object itself is null
			}
			return true
		}
		if a, ok := f.part(map[string]Answer{part: v}); ok {
			out[f.ID] = a
			known++
		}
	}
	inner, ok := v.Object()
	return ok && grouped && known == len(inner)
}

// compose combines the checked answers of the fields into the answer of the
// question. If they contradict each other, it returns the part to correct and
// the problem.
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
	return formAnswer(fields, of)
}

// reviewAnswer composes the answer to a plan review.
func reviewAnswer(decision, feedback string, required bool) (Answer, string, string) {
	switch {
	case decision == "" && feedback != "":
		decision = PlanRequestChanges
	case decision == "" && required:
		return Answer{}, PartDecision, "Choose one first."
	case decision == "":
		return Answer{}, "", ""
	case decision == PlanRequestChanges && feedback == "":
		return Answer{}, PartFeedback, "Describe what should change."
	case decision == PlanApprove && feedback != "":
		return Answer{}, PartDecision, "Approve does not accept feedback. Choose Request changes, or clear the text."
	}
	keys, values := []string{PartDecision}, map[string]Answer{PartDecision: TextAnswer(decision)}
	if feedback != "" {
		keys, values[PartFeedback] = append(keys, PartFeedback), TextAnswer(feedback)
	}
	return object(keys, values), "", ""
}

// feedbackAnswer composes the answer to a request for feedback.
func feedbackAnswer(fields []Field, of func(part string) Answer, required bool) (Answer, string, string) {
	keys, values, some := []string{}, map[string]Answer{}, false
	for _, f := range fields {
		keys, values[f.Part] = append(keys, f.Part), of(f.Part)
		some = some || !of(f.Part).Empty()
	}
	if !some && required {
		return Answer{}, fields[0].Part, "Enter at least one comment."
	}
	return object(keys, values), "", ""
}

// object returns a JSON object that keeps the order of the members.
func object(keys []string, values map[string]Answer) Answer {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, k := range keys {
		if n > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(k) // encoding strings and answers never fails
		value, _ := json.Marshal(values[k])
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return Answer{JSON: b.Bytes()}
}

// Label returns the name of the field for use in a sentence.
func (f Field) Label() string {
	for _, s := range []string{f.Header, f.Text, f.Part, f.ID} {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}
