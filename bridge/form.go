package bridge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// group is an object inside a form.
type group struct {
	name               string
	title, description string
	described          bool // a field shows the description
	listed, nullable   bool
}

// required reports whether the object must be filled in.
func (g *group) required() bool { return g.listed && !g.nullable }

// lines holds the constraints of a list of texts, which is typed with one text
// on each line.
type lines struct {
	least, most int
	unique      bool
	each        Question
}

// Check returns the answer in the form to store, or a sentence for people that
// describes the problem; see [Question.Check].
func (f Field) Check(a Answer, other string) (Answer, string) {
	switch {
	case f.nullable && a.null() && other == "":
		return a, ""
	case f.numbers != nil:
		return f.checkNumber(a, other)
	case f.lines == nil:
		return f.Question.Check(a, other)
	}
	if a = f.unwrap(a); a.List != nil && f.lines.least == 0 { // a list without texts in it
		return a, ""
	}
	a, problem := f.Question.Check(a, other)
	if problem != "" || a.Empty() {
		return a, problem
	}
	all := splitLines(a.Text)
	for n, line := range all {
		v, problem := f.lines.each.Check(TextAnswer(line), "")
		if problem != "" {
			return Answer{}, "Line " + strconv.Itoa(n+1) + ": " + problem
		}
		if f.lines.unique && slices.Contains(all[:n], v.Text) {
			return Answer{}, "Line " + strconv.Itoa(n+1) + " repeats an earlier one."
		}
		all[n] = v.Text
	}
	switch {
	case len(all) < f.lines.least:
		return Answer{}, "Enter at least " + strconv.Itoa(f.lines.least) + ", one per line."
	case f.lines.most > 0 && len(all) > f.lines.most:
		return Answer{}, "Enter at most " + strconv.Itoa(f.lines.most) + ", one per line."
	}
	return TextAnswer(strings.Join(all, "\n")), ""
}

// Labels returns an answer in the form that people see; see [Question.Labels].
func (f Field) Labels(a Answer) string {
	if f.lines != nil && !a.Empty() {
		return strings.Join(splitLines(a.Text), ", ")
	}
	return f.Question.Labels(a)
}

// unwrap converts a JSON value of an object into the value of the field.
func (f Field) unwrap(a Answer) Answer {
	switch {
	case a.null():
		return a
	case f.lines != nil && len(a.List) > 0:
		return TextAnswer(strings.Join(a.List, "\n"))
	case !f.encoded:
		return a
	case f.Multiple():
		var items []json.RawMessage
		if a.List == nil && json.Unmarshal(a.JSON, &items) != nil {
			return a
		}
		for _, s := range a.List {
			items = append(items, jsonText(s))
		}
		values := []string{}
		for _, raw := range items {
			values = append(values, f.encodedValue(string(compact(raw))))
		}
		return ListAnswer(values...)
	case a.JSON != nil:
		return TextAnswer(f.encodedValue(string(a.JSON)))
	case a.Text != "":
		return TextAnswer(f.encodedValue(string(jsonText(a.Text))))
	}
	return a
}

// encodedValue returns the value of the option with a JSON value. A string can
// also be the plain value of an option, because front ends without types send
// that.
func (f Field) encodedValue(raw string) string {
	for _, o := range f.Options {
		if sameJSON(o.Value, raw) {
			return o.Value
		}
	}
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil && f.optionIndex(text) >= 0 {
		return text
	}
	return raw
}

// encode returns the JSON value of an answer. It returns false if the field has
// none.
func (f Field) encode(a Answer) (Answer, bool) {
	switch {
	case a.Empty() && a.List == nil:
		return JSONAnswer("null"), f.nullable && (f.listed || a.null())
	case f.lines != nil:
		return ListAnswer(splitLines(a.Text)...), true
	case f.encoded && f.Multiple():
		return JSONAnswer("[" + strings.Join(a.List, ",") + "]"), true
	case f.encoded:
		return JSONAnswer(a.Text), true
	}
	return a, true
}

// formAnswer composes the answer to a form. If an inner object is incomplete,
// it returns the incomplete part and the problem.
func formAnswer(fields []Field, of func(part string) Answer) (Answer, string, string) {
	keys, values := []string{}, map[string]Answer{}
	for n := 0; n < len(fields); {
		f := fields[n]
		if f.group == nil {
			if v, ok := f.encode(of(f.Part)); ok {
				keys, values[f.Part] = append(keys, f.Part), v
			}
			n++
			continue
		}
		from := n
		for n < len(fields) && fields[n].group == f.group {
			n++
		}
		v, part, problem := f.group.answer(fields[from:n], of)
		if problem != "" {
			return Answer{}, part, problem
		}
		if v.JSON != nil {
			keys, values[f.group.name] = append(keys, f.group.name), v
		}
	}
	return object(keys, values), "", ""
}

// answer composes an inner object. It returns the zero Answer for an optional
// object without input.
func (g *group) answer(fields []Field, of func(part string) Answer) (Answer, string, string) {
	filled := g.required() || slices.ContainsFunc(fields, func(f Field) bool { return !of(f.Part).Empty() || of(f.Part).null() })
	switch {
	case !filled && (g.listed || g.nullable && of(g.name).null()):
		return JSONAnswer("null"), "", ""
	case !filled:
		return Answer{}, "", ""
	}
	keys, values := []string{}, map[string]Answer{}
	for _, f := range fields {
		a := of(f.Part)
		if a.Empty() && f.listed && !f.nullable && !f.IsRequired() {
			return Answer{}, f.Part, "Enter an answer, or leave all of " + g.title + " empty."
		}
		if v, ok := f.encode(a); ok {
			name := strings.TrimPrefix(f.Part, g.name+"/")
			keys, values[name] = append(keys, name), v
		}
	}
	return object(keys, values), "", ""
}

// part returns the value of a part in the object of a question.
func (f Field) part(object map[string]Answer) (Answer, bool) {
	if f.group == nil {
		a, ok := object[f.Part]
		return f.unwrap(a), ok
	}
	inner, _ := object[f.group.name].Object()
	a, ok := inner[strings.TrimPrefix(f.Part, f.group.name+"/")]
	return f.unwrap(a), ok
}
