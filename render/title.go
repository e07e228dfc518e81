package render

import "github.com/nodbridge/nod/bridge"

// Title returns [Head] as text on one line.
func Title(r bridge.Record) string { return Line(headText(Head(r))) }

// FormTitle returns the title of a form that answers a request: its question,
// cut if it is too long. It reports whether the title is complete.
func FormTitle(v bridge.View, limit int, unit Unit) (title string, whole bool) {
	c := NewCard(v, func(bridge.Question) bool { return false })
	if title = Line(c.HeadText()); len(c.asks) > 0 {
		title = Line(headText(c.asks))
	}
	return Cut(title, limit, unit), unit(title) <= limit
}

// Head returns the headline of a request for a list. It shows the start of a
// command that is too long for a headline. Unlike [NewCard], it does not build the
// body.
func Head(r bridge.Record) []Span {
	i := r.Interaction
	if i.Approval != nil {
		act := describe(i)
		if act.listed != nil {
			return act.listed
		}
		return asked(r, act)
	}
	prompt := Markdown(i.Prompt)
	if lead, _ := leadingLine(i, headlineOf(i, i.Fields()), prompt); len(lead) > 0 {
		return lead
	}
	return append(asked(r, Action{}), Span{Text: ": " + subjectOf(prompt)})
}
