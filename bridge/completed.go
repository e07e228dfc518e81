package bridge

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// CompletedView configures how a closed card shows the answer.
type CompletedView struct {
	// ShowInputs shows the given values; nil means true.
	ShowInputs *bool `json:"show_inputs,omitempty"`
	// SummaryTemplate is the sentence on the closed card. If it is empty,
	// nod writes its own. The placeholders {{action}}, {{scope}},
	// {{reason}}, {{actor}}, {{platform}} and {{input.QUESTION}} are
	// replaced by the values of the response.
	SummaryTemplate string `json:"summary_template,omitempty"`
}

// Hidden reports whether the given values must not be shown.
func (c *CompletedView) Hidden() bool { return c != nil && c.ShowInputs != nil && !*c.ShowInputs }

var placeholder = lazyregexp.New(`\{\{\s*([^{}\s]*)\s*\}\}`)

var summaryWords = []string{"action", "scope", "reason", "actor", "platform"}

// Check returns CodeInvalid if the template does not match the questions.
func (c *CompletedView) Check(questions []Question) error {
	for _, m := range placeholder.FindAllStringSubmatch(c.SummaryTemplate, -1) {
		id, isInput := strings.CutPrefix(m[1], "input.")
		switch {
		case isInput && c.Hidden():
			return Errorf(CodeInvalid, "completed_view.summary_template: {{%s}} is not allowed, because show_inputs is false", m[1])
		case isInput && !slices.ContainsFunc(questions, func(q Question) bool { return q.ID == id }):
			return Errorf(CodeInvalid, "completed_view.summary_template: unknown question %q", id)
		case !isInput && !slices.Contains(summaryWords, m[1]):
			return Errorf(CodeInvalid, "completed_view.summary_template: unknown placeholder {{%s}}", m[1]).WithHint("use {{action}}, {{scope}}, {{reason}}, {{actor}}, {{platform}} or {{input.QUESTION}}")
		}
	}
	return nil
}

// Action returns the action of the state: approve, deny, submit or cancel. It
// does not depend on whether a person, a rule or the timeout decided. It is
// empty for other states, and for a cancellation without a person.
func (r Response) Action() string {
	switch r.State {
	case StateApproved:
		return "approve"
	case StateDenied:
		return "deny"
	case StateAnswered:
		return "submit"
	case StateCancelled:
		if r.Actor != nil {
			return "cancel"
		}
	}
	return ""
}

// Summary returns the agent's own sentence about the response. It is empty if
// the agent sent none, or if the interaction closed without a response.
func (r Record) Summary() string {
	c := r.Interaction.CompletedView
	if c == nil || c.SummaryTemplate == "" || r.Response == nil || r.Response.Action() == "" {
		return ""
	}
	resp := r.Response
	return placeholder.ReplaceAllStringFunc(c.SummaryTemplate, func(m string) string {
		name := placeholder.FindStringSubmatch(m)[1]
		switch name {
		case "action":
			return resp.Action()
		case "scope":
			return string(resp.Scope)
		case "reason":
			return resp.Reason
		case "actor":
			if resp.Actor != nil {
				return resp.Actor.Display()
			}
		case "platform":
			if resp.Actor != nil {
				return resp.Actor.Platform
			}
		}
		id, _ := strings.CutPrefix(name, "input.")
		for _, q := range r.Interaction.Questions {
			if q.ID == id {
				return q.Labels(resp.Answers[id])
			}
		}
		return ""
	})
}
