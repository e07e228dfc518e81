package bridge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Reasons for cancelling a request because the agent, or the person at its
// terminal, settled it or will settle it. Cards then state the decision that
// was made there.
const (
	ReasonAllowed   = "allowed at the terminal"
	ReasonAnswered  = "answered at the terminal"
	ReasonDismissed = "dismissed at the terminal" // denied, or closed without a decision
	ReasonSettled   = "settled at the terminal"   // nod does not know what the decision was
	ReasonInProcess = "answered in the agent's process"
	// ReasonLeft closes a request with Request.OnlyRules that no rule decides.
	ReasonLeft = "left to the agent, because no rule asks people"

	// The same reasons for a decision in the agent's editor or client.
	ReasonAllowedEditor   = "allowed in the editor"
	ReasonAnsweredEditor  = "answered in the editor"
	ReasonDismissedEditor = "dismissed in the editor"
	ReasonSettledEditor   = "settled in the editor"
)

// Response is the outcome of an interaction.
type Response struct {
	State   State             `json:"state"`
	Answers map[string]Answer `json:"answers,omitempty"` // answers by question ID
	// Annotations holds notes by question ID. It is never nil in a stored
	// response.
	Annotations map[string]Annotation `json:"annotations"`
	// Scope is the scope of an approval, or always for a denial that the agent
	// must remember.
	Scope Scope `json:"scope,omitempty"`
	// Reason explains an outcome other than a plain answer or approval.
	Reason string `json:"reason,omitempty"`
	// Stop means that a denial also ends the agent's turn, or that the request
	// ended because its session is stopped; see [Response.Stops].
	Stop bool `json:"stop,omitempty"`
	// Respond means that Reason is the result of the call, which does not run.
	Respond bool `json:"respond,omitempty"`
	// Input replaces Approval.Input if a person edited it before approving.
	Input json.RawMessage `json:"input,omitempty"`
	// ApprovedDigest is the request digest with Input.
	ApprovedDigest string `json:"approved_digest,omitempty"`
	Actor          *Actor `json:"actor,omitempty"` // nil if no person decided
	// WithdrawnBy is the person who cancelled the request. It is nil if the
	// agent did.
	WithdrawnBy *Actor `json:"withdrawn_by,omitempty"`
	// Rule is the policy rule that decided. It is empty if no rule did.
	Rule string `json:"rule,omitempty"`
	// Grant is the request whose approval created the grant that covers this
	// request. If several grants cover it, Grant is the request of the first.
	Grant ID `json:"grant,omitempty"`
	// Covers states what the approval covers beyond this request: the
	// coverage of the grants that it created or used. See
	// [Interaction.Coverage].
	Covers []string `json:"covers,omitempty"`
	// Message is the message that was clicked. It is nil if there was no
	// click.
	Message *MessageRef `json:"message,omitempty"`
	// Assurance is the proof that Actor gave for the approval, if any.
	// Assertion is the signature of the passkey. If the approval is the
	// result of votes, each vote has its own assertion.
	Assurance Assurance  `json:"assurance,omitempty"`
	Assertion *Assertion `json:"assertion,omitempty"`
	At        time.Time  `json:"at"`
	Digest    string     `json:"digest"` // request digest of the interaction that was shown
}

// Vote is one approver's decision on an approval that requires several.
type Vote struct {
	Actor   Actor       `json:"actor"`
	State   State       `json:"state"` // approved or denied
	Scope   Scope       `json:"scope,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	At      time.Time   `json:"at"`
	Message *MessageRef `json:"message,omitempty"`
	// Covers holds the indexes into Placement.Slots that the voter counted
	// toward.
	Covers []int `json:"covers,omitempty"`
	// Content is the content hash of the interaction that the voter saw,
	// because an approval counts only for that content.
	Content string `json:"content,omitempty"`
	// Assurance and Assertion are the voter's; see [Response].
	Assurance Assurance  `json:"assurance,omitempty"`
	Assertion *Assertion `json:"assertion,omitempty"`
}

// Annotation holds information about an answer other than its value.
type Annotation struct {
	Note  string `json:"note,omitempty"`
	Other bool   `json:"other,omitempty"` // the answer is typed text, not one of the options
	// Preview is the preview of the chosen option, if it had one.
	Preview string `json:"preview,omitempty"`
}

// Decided reports whether a person or a rule decided. Any other final state
// means that there is no answer.
func (s State) Decided() bool { return s == StateAnswered || s == StateApproved || s == StateDenied }

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
