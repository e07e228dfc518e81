package bridge

import "time"

// WhyAltered is the reason that nod does not act on a record that was changed.
// The card shows it to people.
const WhyAltered = "this request was changed outside nod, so nod ignores everything that is stored for it"

// Decided reports whether the response is a decision of a person or a rule.
// Only decisions have receipts.
func (r Response) Decided() bool {
	return r.State.Decided() || r.Actor != nil || len(r.Answers) > 0
}

// ByVotes reports whether a response is the result of votes. If a rule or a
// grant closes a request that people have voted on, their votes are not part of
// the decision.
func (i Interaction) ByVotes(resp Response) bool {
	return i.Counted() && resp.Actor != nil && resp.Grant == ""
}

// Enough reports whether the votes of a record are enough to close it in a
// state.
func (r Record) Enough(s State) bool {
	if s == StateApproved {
		have, need := r.Count()
		return have >= need
	}
	no := len(r.Voters(StateDenied))
	return no > 0 && (!r.Interaction.DenyCounts || no >= r.Interaction.Needs())
}

// Narrowed returns the response of the vote that closes a record, with the
// narrowest scope of all approvals.
func (r Record) Narrowed(resp Response) Response {
	if resp.State != StateApproved {
		return resp
	}
	for _, v := range r.Votes {
		if v.State != StateApproved {
			continue
		}
		narrower := v.Scope
		if narrower != resp.Scope && narrower.Kind() == resp.Scope.Kind() { // approvers chose different options
			narrower = ScopeOnce
		}
		if ScopeOrder(narrower) < ScopeOrder(resp.Scope) {
			resp.Scope, resp.Covers = narrower, r.Interaction.Coverage(narrower)
		}
	}
	return resp
}

// Distrust gives an unverified record its form for every purpose except
// inspection: closed without a decision, with the reason in Unverified.
func (r *Record) Distrust() {
	at := r.Interaction.Created
	if r.Response != nil {
		at = r.Response.At
	}
	r.State, r.Votes, r.Receipt, r.Completion, r.Interaction.CompletedView = StateUndeliverable, nil, "", nil, nil
	r.Response = &Response{State: StateUndeliverable, Reason: r.Unverified, Annotations: map[string]Annotation{}, At: at, Digest: r.Interaction.Digest}
}

// Trusted returns CodeForbidden if the record does not verify.
func (r Record) Trusted() error {
	if r.Unverified == "" {
		return nil
	}
	return Errorf(CodeForbidden, "interaction %s is not verified: %s", r.Interaction.ID, r.Unverified).
		WithHint("ask again, or inspect the stored record with nod show %s", r.Interaction.ID)
}

// SameVoter reports whether two votes come from the same person or the same
// account. Such votes count only once.
func (v Vote) SameVoter(w Vote) bool {
	a, b := v.Actor, w.Actor
	return a.Voter() == b.Voter() || a.Platform == b.Platform && a.User == b.User
}

// Times holds the creation time and the deadline of an interaction.
type Times struct{ Created, Deadline time.Time }
