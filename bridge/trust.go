package bridge

import (
	"slices"
	"time"
)

// WhyAltered is the reason why a record that was changed is not acted on. People
// read it on its card.
const WhyAltered = "this request was changed outside nod, so nothing that is stored for it counts"

// Decided reports whether a response says that someone, or a rule, decided:
// such a response has a receipt. An end without a decision has none.
func (r Response) Decided() bool {
	return r.State.Decided() || r.Actor != nil || len(r.Answers) > 0
}

// ByVotes reports whether a response is the result of votes. A rule or a grant
// can end a request on which people have voted, and their votes are then no
// part of the decision.
func (i Interaction) ByVotes(resp Response) bool {
	return i.Counted() && resp.Actor != nil && resp.Grant == ""
}

// Prepared reports whether the response was made when the interaction was
// opened, for its deadline.
func (r Response) Prepared() bool { return r.Actor == nil && r.Rule == "" && r.Grant == "" }

// Carried reports whether the votes of a record are enough for its response.
func (r Record) Carried() bool {
	return r.Enough(r.Response.State) && (r.State != StateApproved || !slices.ContainsFunc(r.Votes, func(v Vote) bool {
		return v.State == StateApproved && ScopeOrder(v.Scope) < ScopeOrder(r.Response.Scope)
	}))
}

// Enough reports whether the votes of a record suffice to end it in a state.
func (r Record) Enough(s State) bool {
	if s == StateApproved {
		return r.Missing() == ""
	}
	no := len(r.Voters(StateDenied))
	return no > 0 && (!r.Interaction.DenyCounts || no >= r.Interaction.Needs())
}

// Distrusted is a record that is not acted on, as everything but a plain look
// at it sees it: ended without a decision, for the reason.
func (r Record) Distrusted() Record {
	at := r.Interaction.Created
	if r.Response != nil {
		at = r.Response.At
	}
	r.State, r.Votes, r.Receipt, r.Completion, r.Interaction.CompletedView = StateUndeliverable, nil, "", nil, nil
	r.Response = &Response{State: StateUndeliverable, Reason: r.Unverified, Annotations: map[string]Annotation{}, At: at, Digest: r.Interaction.Digest}
	return r
}

// Trusted is the error of a record that is not to be acted on.
func (r Record) Trusted() error {
	if r.Unverified == "" {
		return nil
	}
	return Errorf(CodeForbidden, "interaction %s is not verified: %s", r.Interaction.ID, r.Unverified).
		WithHint("ask again; see what is stored with: nod show %s", r.Interaction.ID)
}

// MemberOf is a record that the messages of r show, by what Redis says: one
// that asked to share them, of the same agent, session and route. Any other is
// not decided there.
func (r Record) MemberOf(m Record) Record {
	a, b := r.Interaction, m.Interaction
	if m.State.Final() || a.Agent == b.Agent && a.Session == b.Session && a.Route == b.Route && a.Batch > 0 && b.Batch > 0 {
		return m
	}
	m.Unverified = WhyAltered
	return m.Distrusted()
}

// SameVoter reports whether two votes are of one human or of one account, which
// count once.
func (v Vote) SameVoter(w Vote) bool {
	a, b := v.Actor, w.Actor
	return a.Voter() == b.Voter() || a.Platform == b.Platform && a.User == b.User
}

// Times holds the creation and the deadline of an interaction.
type Times struct{ Created, Deadline time.Time }
