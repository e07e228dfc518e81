package render

import (
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Menu is the content of a dialog for a decision that takes more than a click
// on the card: its text, and the controls that decide.
type Menu struct {
	Title string
	// Lead states the action that needs a decision.
	Lead    []Block
	Choices []Choice
	// Later describes the controls of [Extras]. It is empty if the menu has
	// none.
	Later []Block
}

// Choice is a decision on a menu.
type Choice struct {
	// Name is the heading of the text. It is empty on a menu with one
	// choice, whose title is enough.
	Name  string
	Label string  // label of the control that decides
	Text  []Block // effect of the decision
	Token string
	Stops bool // the decision denies
	// Bare is the token that decides without the optional text that Token
	// requests. It is empty if Token requests no text.
	Bare string
}

// FullText returns the texts of all choices below their labels, for a file.
func (m Menu) FullText() string {
	var full []Block
	for _, c := range m.Choices {
		full = append(append(full, Para(c.Label)), c.Text...)
	}
	return PlainText(full) + "\n"
}

// AsksReason reports whether a form takes an optional reason. If a form
// requires all of its inputs, the menu of the form is enough.
func AsksReason(f bridge.Form) bool {
	i, c := f.View.Record.Interaction, f.Control
	return i.Kind == bridge.KindApproval && c.Action == bridge.ActionInput && c.Option == bridge.OptionDecide &&
		i.Decisions()[c.Question] == bridge.DecideDenyStop
}

// Opens reports whether a form is a menu rather than a text input.
func Opens(f bridge.Form) bool {
	if f.Control.Action == bridge.ActionMore {
		return true
	}
	i := f.View.Record.Interaction
	if i.Kind != bridge.KindApproval || f.Control.Action != bridge.ActionInput {
		return false
	}
	return f.Control.Option >= bridge.OptionEdited || f.Control.Option == bridge.OptionDecide && i.Decisions()[f.Control.Question].OnePress(i.Approval)
}

// NewMenu returns the menu of a form.
func NewMenu(f bridge.Form) Menu {
	i, c := f.View.Record.Interaction, f.Control
	if c.Action == bridge.ActionInput && c.Option >= bridge.OptionEdited {
		return menuForEdit(f)
	}
	m := Menu{Title: TitleMore, Lead: []Block{{Kind: Paragraph, Spans: ActionOf(i).Short}}}
	offered := i.More()
	if c.Action == bridge.ActionInput {
		offered = []int{c.Question}
	}
	for _, n := range offered {
		d := i.Decisions()[n]
		if !f.DenyOnly || d.Denies() {
			name := strings.TrimSuffix(DecisionLabel(i, d), "…")
			m.Choices = append(m.Choices, choice(f.View, n, name))
		}
	}
	if c.Action == bridge.ActionMore && !f.DenyOnly && i.CanWait() {
		m.Later = []Block{Para("The request stays open, and you can still answer it.")}
	}
	if c.Action == bridge.ActionInput {
		m.Title, m.Choices[0].Name = m.Choices[0].Name, ""
	}
	return m
}

// menuForEdit returns the menu in which a person confirms an edit.
func menuForEdit(f bridge.Form) Menu {
	i, c := f.View.Record.Interaction, f.Control
	var now bridge.Approval
	if f.View.Draft != nil {
		now.Input = []byte(f.View.Draft.Input)
	}
	diff := Block{Kind: Code, Text: exactDiff(revealed(fullDiff(i.Approval.EditText(), now.EditText()))), Lang: "diff"}
	return Menu{
		Title: TitleCheck, Lead: []Block{{Kind: Paragraph, Spans: ActionOf(i).Short}},
		Choices: []Choice{
			{Label: LabelApproveNow, Text: []Block{diff}, Token: f.View.Token(bridge.ActionSubmit, c.Question, c.Option)},
			{
				Label: LabelEditAgain, Text: []Block{Para("Nothing is approved yet. Your change is kept.")},
				Token: f.View.Token(bridge.ActionInput, c.Question, bridge.OptionEdit),
			},
		},
	}
}

// choice returns decision n as a choice on a menu.
func choice(v bridge.View, n int, name string) Choice {
	i := v.Record.Interaction
	d := i.Decisions()[n]
	c := Choice{Name: name, Label: DecisionLabel(i, d), Text: statement(i, d), Token: v.Token(i.StatedControl(n)), Stops: d.Denies()}
	if d == bridge.DecideDenyStop {
		c.Bare = c.Token
		c.Token = v.Token(i.DecisionControl(n))
	}
	return c
}

// howToUndo says how to revoke an approval for which nod stores a grant.
func howToUndo(before string) Block { return withCommand(before, "grants") }

// withCommand ends a text with a command of nod.
func withCommand(before, words string) Block {
	return Block{Kind: Paragraph, Spans: []Span{{Text: before}, {Text: "/" + bridge.CommandName + " " + words, Code: true}}}
}

// grants reports whether nod stores a grant for a decision.
func grants(i bridge.Interaction, d bridge.Decision) bool {
	return (d == bridge.DecideSession || d == bridge.DecideAlways) && !i.Approval.AgentRemembers
}

// stops is the object in the label of the control that stops an agent.
const stops = "its current work"

// EntryLabel returns the label of an entry of a menu. The label states the
// effect beyond the request on the card: coverage and duration, or what the
// entry stops.
func EntryLabel(i bridge.Interaction, d bridge.Decision) string {
	label, more := strings.TrimSuffix(DecisionLabel(i, d), "…"), ""
	if d.Kind() == bridge.DecideDenyStop && i.Session != "" {
		return label + " until someone resumes it…"
	}
	switch d.Kind() {
	case bridge.DecideSession, bridge.DecideAlways:
		more = Line(i.CoverageBrief(bridge.Scope(d)))
	case bridge.DecideDenyStop:
		more = "it ends " + stops
	}
	switch {
	case more == "":
	case d.Approves() && !i.Approval.AgentRemembers:
		label += ", " + more
	default:
		label += ": " + more
	}
	return label + "…"
}

// CardLabel returns the label of the control of a decision on a card.
func CardLabel(i bridge.Interaction, d bridge.Decision) string {
	if d == bridge.DecideOnce || d == bridge.DecideDeny {
		return DecisionLabel(i, d)
	}
	return strings.TrimSuffix(DecisionLabel(i, d), "…") + "…"
}

// statement states the effect of a decision beyond the request on the card.
func statement(i bridge.Interaction, d bridge.Decision) []Block {
	agent := Line(i.Agent)
	switch d.Kind() {
	case bridge.DecideEdit:
		return []Block{Para("Your version runs instead. The card shows the change.")}
	case bridge.DecideDenyReason:
		return []Block{Para(agent + " and all responders will see the reason.")}
	case bridge.DecideDenyAlways:
		return append([]Block{Para(AlwaysHint(i))}, described(i, d)...)
	case bridge.DecideDeny:
		return append([]Block{Para("Denies this.")}, described(i, d)...)
	case bridge.DecideRespond:
		return []Block{Para(hintRespond)}
	case bridge.DecideDenyStop:
		if i.Session != "" {
			return []Block{Para("Denies this and stops the session: pending requests are cancelled and new ones denied, until someone resumes it.")}
		}
		return []Block{Para("Denies this, and tells " + agent + " to end " + stops + ".")}
	}
	var out []Block
	if d.Kind() == bridge.DecideSession || d.Kind() == bridge.DecideAlways {
		out = append(out, Para("Approves this now. After that:"))
	}
	for _, text := range i.CoverageShown(bridge.Scope(d)) {
		out = append(out, Para(Clean(text)))
	}
	if grants(i, d) {
		out = append(out, howToUndo("To revoke it: "))
	}
	return out
}

// described quotes the agent's label for a denial.
func described(i bridge.Interaction, d bridge.Decision) []Block {
	note := i.Approval.ScopeNotes[bridge.Scope(d)]
	if note == "" {
		return nil
	}
	return []Block{Para(Line(i.Agent) + " describes this choice as " + strconv.Quote(Line(note)) + ".")}
}

// AlwaysHint states the effect of denying always.
func AlwaysHint(i bridge.Interaction) string {
	return "Denies this, and tells " + Line(i.Agent) + " to deny it from now on. nod stores nothing."
}
