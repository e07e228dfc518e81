package render

import "github.com/nodbridge/nod/bridge"

// Title returns the headline of a request as one line for a list. It shows the
// start of a command that is too long for a headline. Unlike [NewCard], it does
// not build the body.
func Title(r bridge.Record) string {
	i := r.Interaction
	if i.Approval != nil {
		act := describe(i)
		if act.listed != "" {
			return act.listed
		}
		return Line(headText(asked(r, act)))
	}
	prompt := Markdown(i.Prompt)
	if lead, _ := leadingLine(i, headlineOf(i, i.Fields()), prompt); len(lead) > 0 {
		return Line(headText(lead))
	}
	return Line(headText(asked(r, Action{}))) + ": " + subjectOf(prompt)
}
