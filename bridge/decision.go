package bridge

// Decision is one way to answer an approval.
type Decision string

// The decisions, in the order they are offered.
const (
	DecideDeny       Decision = "deny"
	DecideDenyReason Decision = "deny_reason"
	DecideOnce       Decision = "once"
	DecideSession    Decision = "session"
	DecideAlways     Decision = "always"
)

// Decisions lists what the approval offers; none for an ask. The index of a
// decision is the Option of its Control.
func (i Interaction) Decisions() []Decision {
	if i.Approval == nil {
		return nil
	}
	d := []Decision{DecideDeny, DecideDenyReason}
	for _, s := range i.Approval.Scopes {
		d = append(d, Decision(s))
	}
	return d
}

// response turns a decision into a response; false for one that is not on
// offer.
func (i Interaction) decide(d Decision, reason string) (Response, bool) {
	for _, offered := range i.Decisions() {
		if d != offered {
			continue
		}
		if d == DecideDeny || d == DecideDenyReason {
			return Response{State: StateDenied, Reason: reason}, true
		}
		return Response{State: StateApproved, Scope: Scope(d)}, true
	}
	return Response{}, false
}
