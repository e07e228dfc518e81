package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Decision is one way to answer an approval.
type Decision string

// The decisions, in the order they are offered.
const (
	DecideDeny       Decision = "deny"
	DecideDenyReason Decision = "deny_reason"
	DecideDenyAlways Decision = "deny_always"
	DecideDenyStop   Decision = "deny_stop"
	DecideOnce       Decision = "once"
	DecideSession    Decision = "session"
	DecideAlways     Decision = "always"
	DecideEdit       Decision = "edit"
)

var allDecisions = []Decision{DecideDeny, DecideDenyReason, DecideDenyAlways, DecideDenyStop, DecideOnce, DecideSession, DecideAlways, DecideEdit}

// Decisions lists what the approval offers; none for an ask. The index of a
// decision is the Option of its Control, or the Question of one that opens a
// native input.
func (r Ask) Decisions() []Decision {
	a := r.Approval
	switch {
	case a == nil:
		return nil
	case len(a.Decisions) > 0:
		return a.Decisions
	}
	d := []Decision{DecideDeny, DecideDenyReason}
	for _, s := range a.Scopes {
		d = append(d, Decision(s))
	}
	return d
}

// Approves reports whether the decision is a yes.
func (d Decision) Approves() bool {
	switch d {
	case DecideOnce, DecideSession, DecideAlways, DecideEdit:
		return true
	}
	return false
}

// DecisionControl is the control of decision n of an approval: it decides at
// once, or opens the native input that the decision needs.
func (r Ask) DecisionControl(n int) (action Action, question, option int) {
	switch d := r.Decisions()[n]; {
	case d.OnePress(r.Approval):
		return ActionChoose, 0, n
	case d == DecideDenyReason:
		return ActionInput, 0, OptionReason
	case d == DecideEdit:
		return ActionInput, n, OptionEdit
	}
	return ActionInput, n, OptionConfirm
}

// OnePress reports whether pressing the decision's control decides.
func (d Decision) OnePress(a *Approval) bool {
	return d != DecideDenyReason && d != DecideEdit && (!d.Approves() || a.Confirm == "")
}

// Given is what a person typed with a decision.
type Given struct {
	Reason  string          // of a denial
	Input   json.RawMessage // instead of Approval.Input
	Confirm string          // what Approval.Confirm wants
}

// Decide turns a decision into a response; a sentence for the human where
// something is missing. CodeInvalid for a decision that is not on offer. The
// caller sets the ApprovedDigest of a response that has an Input.
func (r Ask) Decide(d Decision, g Given) (Response, string, error) {
	if !slices.Contains(r.Decisions(), d) {
		return Response{}, "", Errorf(CodeInvalid, "decision: %q is not on offer", d).WithHint("use one of %v", r.Decisions())
	}
	if c := r.Approval.Confirm; c != "" && d.Approves() && strings.TrimSpace(g.Confirm) != c {
		return Response{}, "Type exactly: " + c, nil
	}
	switch d {
	case DecideDeny, DecideDenyReason:
		return Response{State: StateDenied, Reason: g.Reason}, "", nil
	case DecideDenyAlways:
		return Response{State: StateDenied, Reason: g.Reason, Scope: ScopeAlways}, "", nil
	case DecideDenyStop:
		return Response{State: StateDenied, Reason: g.Reason, Stop: true}, "", nil
	case DecideEdit:
		return r.Approval.edited(g.Input)
	}
	return Response{State: StateApproved, Scope: Scope(d)}, "", nil
}

// edited approves another input than the one that was asked for.
func (a Approval) edited(input json.RawMessage) (Response, string, error) {
	if len(input) > MaxInput {
		return Response{}, "That is too long.", nil
	}
	var text bytes.Buffer
	if err := json.Compact(&text, input); err != nil || !utf8.Valid(input) {
		return Response{}, "That is not valid JSON. Nothing was approved.", nil
	}
	if was := bytes.TrimSpace(a.Input); was[0] != text.Bytes()[0] && (was[0] == '{' || was[0] == '[') {
		return Response{}, "The input has to stay a JSON object or list, as it was.", nil
	}
	if err := CheckJSON(text.Bytes()); err != nil {
		return Response{}, "That can not be approved: " + PublicError(err).Message + ".", nil
	}
	r := Response{State: StateApproved, Scope: ScopeOnce}
	if !bytes.Equal(text.Bytes(), a.Input) {
		r.Input = text.Bytes()
	}
	return r, "", nil
}

// EditText is the input of an approval as a person gets it to edit.
func (a Approval) EditText() string {
	var b bytes.Buffer
	if err := json.Indent(&b, a.Input, "", "  "); err != nil {
		return string(a.Input)
	}
	return b.String()
}

// WithInput is the request for an approval with another input: what a person
// approved who changed it.
func (r Ask) WithInput(input json.RawMessage) Ask {
	a := *r.Approval
	a.Input = input
	r.Approval = &a
	return r
}

// normalizeDecisions checks what is on offer, and takes the scopes from it.
func (a *Approval) normalizeDecisions(session string) error {
	if len(a.Decisions) == 0 {
		return nil
	}
	given := a.Scopes
	a.Scopes, a.Decisions = nil, slices.Clone(a.Decisions)
	for n, d := range a.Decisions {
		switch {
		case !slices.Contains(allDecisions, d):
			return Errorf(CodeInvalid, "approval.decisions[%d]: unknown %q", n, d).WithHint("use some of %v", allDecisions)
		case slices.Contains(a.Decisions[:n], d):
			return Errorf(CodeInvalid, "approval.decisions[%d]: %q is there twice", n, d)
		}
	}
	slices.SortFunc(a.Decisions, func(x, y Decision) int { return slices.Index(allDecisions, x) - slices.Index(allDecisions, y) })
	if len(a.Input) == 0 || utf8.RuneCountInString(a.EditText()) > DefaultMaxLength {
		a.Decisions = slices.DeleteFunc(a.Decisions, func(d Decision) bool { return d == DecideEdit })
	}
	if session == "" {
		a.Decisions = slices.DeleteFunc(a.Decisions, func(d Decision) bool { return d == DecideSession })
	}
	for _, d := range a.Decisions {
		if s := Scope(d); ScopeOrder(s) >= 0 {
			a.Scopes = append(a.Scopes, s)
		}
	}
	if len(given) > 0 && !slices.Equal(given, a.Scopes) {
		return Errorf(CodeInvalid, "approval.scopes: are not those of decisions").WithHint("name once, session and always among the decisions")
	}
	if !slices.ContainsFunc(a.Decisions, Decision.Approves) {
		return Errorf(CodeInvalid, "approval.decisions: none of them approves")
	}
	if a.Confirm != "" && slices.Contains(a.Decisions, DecideEdit) {
		return Errorf(CodeInvalid, "approval.decisions: edit does not go with confirm").WithHint("one native input does one thing")
	}
	return nil
}

// checkWords checks what people read and type.
func (a *Approval) checkWords() error {
	if err := CheckText("approval.confirm", a.Confirm, 100); err != nil {
		return err
	}
	if a.Confirm != strings.TrimSpace(a.Confirm) || strings.ContainsAny(a.Confirm, "\r\n\t") {
		return Errorf(CodeInvalid, "approval.confirm: is one line without spaces around it")
	}
	for s, note := range a.ScopeNotes {
		if ScopeOrder(s) < 0 {
			return Errorf(CodeInvalid, "approval.scope_notes: unknown scope %q", s).WithHint("use once, session, always")
		}
		if err := CheckText("approval.scope_notes."+string(s), note, MaxText); err != nil {
			return err
		}
	}
	return nil
}
