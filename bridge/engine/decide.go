package engine

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// decide converts a decision into a response, and adds the digest of an edited
// input.
func decide(i bridge.Interaction, d bridge.Decision, g bridge.Given) (bridge.Response, string, error) {
	r, problem, err := i.Decide(d, g)
	if err == nil && len(r.Input) > 0 {
		r.ApprovedDigest, err = proof.Digest(i.Ask.WithInput(r.Input))
	}
	return r, problem, err
}

// grantable sets the coverage of a grant that is given in the interaction. The
// argument sent is the interaction before redaction.
func grantable(i *bridge.Interaction, r bridge.Ruling, sent bridge.Interaction) error {
	if i.Approval == nil {
		return nil
	}
	key, err := proof.GrantKey(sent)
	if err != nil {
		return err
	}
	i.Grantable(r, sent, key)
	return nil
}

// decision returns the decision of a control on an approval and the text typed
// with it, or the problem with that text. The decision is empty if the approval
// does not have the control.
func (a Click) decision() (d bridge.Decision, given bridge.Given, problem string) {
	i, c := a.Record.Interaction, a.Control
	all := i.Decisions()
	if c.Action == bridge.ActionChoose && c.Option < len(all) && all[c.Option].OnePress(i.Approval) {
		return all[c.Option], given, ""
	}
	if c.Action != bridge.ActionSubmit {
		return "", given, ""
	}
	if c.Option == bridge.OptionReason {
		d = bridge.DecideDenyReason
	} else if c.Question < len(all) {
		d = all[c.Question]
	}
	if c.Option >= bridge.OptionEdited {
		given.Input = json.RawMessage(a.Typed)
		return d, given, ""
	}
	switch c.Option {
	case bridge.OptionEdit:
		given.Input = json.RawMessage(a.Typed)
	case bridge.OptionConfirm:
		given.Confirm = a.Typed
	case bridge.OptionReason, bridge.OptionDecide:
		switch {
		case d.Approves():
			given.Confirm = a.Typed
		case a.Typed != "" || c.Option == bridge.OptionReason:
			reason, wrong := bridge.Question{Widget: bridge.WidgetTextarea}.Check(bridge.TextAnswer(a.Typed), "")
			given.Reason, problem = reason.Text, wrong
		}
	default:
		d = ""
	}
	return d, given, problem
}
