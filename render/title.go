package render

import "github.com/nodbridge/nod/bridge"

// Title returns the headline of a pending request as one line. Unlike
// [NewCard], it does not build the body.
func Title(r bridge.Record) string {
	i := r.Interaction
	if i.Approval != nil {
		return Line(headText(asked(r, describe(i))))
	}
	prompt := Markdown(i.Prompt)
	if lead, _ := leadingLine(i, headlineOf(i, i.Fields()), prompt); len(lead) > 0 {
		return Line(headText(lead))
	}
	return Line(headText(asked(r, Action{}))) + ": " + subjectOf(prompt)
}
