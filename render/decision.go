package render

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// DecisionLabel returns the label of a decision on an approval.
func DecisionLabel(i bridge.Interaction, d bridge.Decision) string {
	label := ""
	switch d.Kind() {
	case bridge.DecideDeny:
		label = LabelDeny
	case bridge.DecideDenyReason:
		label = LabelDenyReason
	case bridge.DecideDenyAlways:
		label = LabelDenyAlways
	case bridge.DecideRespond:
		label = LabelRespond
	case bridge.DecideSession:
		label = longer(i, LabelSession, labelRuleSession, labelKeptSession)
	case bridge.DecideAlways:
		label = longer(i, LabelAlways, labelRuleAlways, labelKeptAlways)
	case bridge.DecideEdit:
		label = LabelEdit
	case bridge.DecideOnce:
		label = verb(i)
	case bridge.DecideDenyStop:
		label = LabelDenyStop + Cut(Line(i.Agent), maxName, Runes)
	}
	if name := i.OptionName(d); name != "" {
		label += ": " + Cut(Line(name), maxOption, Runes)
	}
	if d.Approves() && i.Approval.Confirm != "" {
		label += "…"
	}
	return label
}

// longer returns one of three texts about the coverage of a longer approval:
// repeats of the request, everything that a rule matches, or everything that
// the agent remembers.
func longer(i bridge.Interaction, repeats, rule, kept string) string {
	switch {
	case i.Approval.AgentRemembers:
		return kept
	case len(i.RuleGrants) > 0:
		return rule
	}
	return repeats
}

// maxOption is the maximum length, in characters, of the agent's name for an
// option on a control. The text above the control has the complete name.
const maxOption = 40

// Ordered returns the indexes of an approval's decisions in the order of their
// controls: the decisions on the card come first.
func Ordered(i bridge.Interaction) []int { return append(i.OnCard(), i.More()...) }

// maxName is the maximum length of an agent's name on a control, in characters.
const maxName = 20

// Tone is the look of a control.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Bad
)

// DecisionTone returns the tone of the control for a decision. Only the
// narrowest approval stands out, and none does if the agent requests that.
// Denying is the safe choice.
func DecisionTone(i bridge.Interaction, d bridge.Decision) Tone {
	switch {
	case d != bridge.DecideOnce || i.Approval.DefaultNo:
		return Plain
	case i.Approval.Confirm != "":
		return Bad
	}
	return Good
}

// TypedInput is the native text input of a decision.
type TypedInput struct {
	Title, Submit string
	Label, Hint   string
	Initial       string
	Lines         bool // multiple lines
	Optional      bool
	// Text states what the decision covers. It is shown above the input.
	Text      []Block
	MaxLength int // in characters
	// Ask is the instruction on platforms where people type a reply to a
	// message.
	Ask string
	// Exact follows Ask: the only text that nod accepts. It is empty if nod
	// accepts any text.
	Exact string
}

// Typed returns the text input that a control opens. The control is on an
// approval or on the message of a session.
func Typed(f bridge.Form) TypedInput {
	i := f.View.Record.Interaction
	switch f.Control.Option {
	case bridge.OptionMessage:
		return messageInput()
	case bridge.OptionEdit:
		before := *i.Approval
		if d := f.View.Draft; d != nil && d.Input != "" {
			before.Input = []byte(d.Input)
		}
		return TypedInput{
			Title: strings.TrimSuffix(LabelEdit, "…"), Submit: "Check change", Label: "Input, as JSON", Hint: "This runs instead of the requested input.", Lines: true,
			Initial: before.EditText(), MaxLength: bridge.DefaultMaxLength, Ask: "reply to this message with the complete edited input as JSON; you see your change before it counts",
		}
	case bridge.OptionConfirm, bridge.OptionDecide:
		d := i.Decisions()[f.Control.Question]
		if d == bridge.DecideRespond {
			return TypedInput{
				Title: "Answer instead", Submit: "Send answer", Label: "Answer", Hint: hintRespond, Lines: true,
				MaxLength: bridge.DefaultMaxLength, Ask: "reply to this message with the answer for the agent",
			}
		}
		label := strings.TrimSuffix(DecisionLabel(i, d), "…")
		if d == bridge.DecideDenyStop {
			return TypedInput{
				Title: "Deny and stop", Submit: "Deny and stop", Label: "Reason", Hint: "The agent and all responders will see it.",
				Lines: true, Optional: true, MaxLength: bridge.DefaultMaxLength, Text: statement(i, d),
				Ask: "reply to this message with the reason",
			}
		}
		var text []Block
		if f.Control.Option == bridge.OptionDecide {
			text = statement(i, d)
		}
		return confirmation(*i.Approval, label, text)
	}
	return TypedInput{
		Title: "Deny with a reason", Submit: LabelDeny, Label: "Reason", Hint: "The agent and all responders will see it.", Lines: true,
		MaxLength: bridge.DefaultMaxLength, Ask: "reply to this message with the reason",
	}
}

// hintRespond states what happens after an answer instead of an approval.
const hintRespond = "The agent gets your text as the result. The call does not run."

// confirmation returns the input for the typed confirmation of an approval. Its
// button has the label of the control that opened it, if that label fits on
// every platform.
func confirmation(a bridge.Approval, label string, text []Block) TypedInput {
	want, title, submit := Line(a.Confirm), label, label
	if Runes(label) > maxSubmit {
		title, submit = TitleConfirm, "Approve"
		text = append([]Block{{Kind: Heading, Spans: []Span{{Text: label}}}}, text...)
	}
	return TypedInput{
		Title: title, Submit: submit, Label: ConfirmLabel(a), MaxLength: 200, Text: text,
		Ask: "to confirm “" + label + "”, reply to this message with exactly", Exact: want,
	}
}

// maxSubmit is the maximum length of the label of the button that sends an
// input, in characters.
const maxSubmit = 24

// ConfirmLabel returns the label of the input for the typed confirmation of an
// approval.
func ConfirmLabel(a bridge.Approval) string { return "Type to confirm: " + Line(a.Confirm) }

// ScopeNotes describes the coverage of each longer approval beyond the request.
// It is for a page that has the controls of all decisions below the card.
func ScopeNotes(i bridge.Interaction) []Block {
	return append(scopeNote(i, bridge.ScopeSession), scopeNote(i, bridge.ScopeAlways)...)
}

func scopeNote(i bridge.Interaction, s bridge.Scope) []Block {
	if i.Approval == nil || !slices.Contains(i.Approval.Scopes, s) {
		return nil
	}
	var out []Block
	for _, text := range i.CoverageShown(s) {
		label := Span{Text: DecisionLabel(i, bridge.Decision(s)) + ": ", Bold: true}
		out = append(out, Block{Kind: Paragraph, Spans: []Span{label, {Text: Clean(text)}}})
	}
	return out
}

// covered describes the coverage of the approval on a closed card. It does not
// repeat the request, which the card shows.
func covered(r bridge.Record) []Block {
	if r.State != bridge.StateApproved || r.Response == nil {
		return nil
	}
	covers := r.Response.Covers
	if slices.Equal(covers, r.Interaction.Coverage(r.Response.Scope)) {
		covers = r.Interaction.CoverageShown(r.Response.Scope)
	}
	var out []Block
	for _, text := range covers {
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: "Covers: ", Bold: true}, {Text: Clean(text)}}})
	}
	if s := r.Response.Scope; len(out) > 0 && grants(r.Interaction, bridge.Decision(s)) {
		until := r.Response.At.Add(r.Interaction.GrantTTL(s))
		undo := howToUndo(". To revoke it: ")
		undo.Spans = append([]Span{{Text: "Until "}, clock(until)[0]}, undo.Spans...)
		out = append(out, undo)
	}
	return out
}

// change renders what a person changed before approving.
func change(r bridge.Record) []Block {
	if r.Response == nil || len(r.Response.Input) == 0 || r.Interaction.CompletedView.Hidden() {
		return nil
	}
	asked, approved := *r.Interaction.Approval, *r.Interaction.Approval
	approved.Input = r.Response.Input
	was, now := changedText(Input(asked), Input(approved))
	if was == now { // only their JSON differs
		was, now = asked.EditText(), approved.EditText()
	}
	return []Block{
		{Kind: Paragraph, Spans: []Span{{Text: "Changed before it was approved:", Bold: true}}},
		{Kind: Code, Text: exactDiff(revealed(lineDiff(was, now, changeContext))), Lang: "diff"},
	}
}

// changeContext is the number of unchanged lines around a change.
const changeContext = 2

// changedText returns the texts of the blocks in which the cards of two inputs
// differ.
func changedText(was, now []Block) (string, string) {
	text := func(b Block) string { return b.Text + headText(b.Spans) }
	var before, after []string
	for n := range max(len(was), len(now)) {
		a, b := "", ""
		if n < len(was) {
			a = text(was[n])
		}
		if n < len(now) {
			b = text(now[n])
		}
		if a != b {
			before, after = append(before, a), append(after, b)
		}
	}
	return strings.Join(before, "\n"), strings.Join(after, "\n")
}
