package bridge

import (
	"slices"
	"strconv"
	"time"
)

// Assurance is the kind of proof that a person gave for an approval, in addition
// to the account that the platform authenticated: AssurancePasskey or the weaker
// AssuranceTOTP. It is empty if there was no additional proof.
type Assurance string

// With returns the words that follow the name of a person who approved with an
// assurance, with a leading space. It is empty for no assurance.
func (a Assurance) With() string {
	switch a {
	case AssurancePasskey:
		return " with a passkey"
	case AssuranceTOTP:
		return " with a one-time code (weaker than a passkey)"
	}
	return ""
}

// StepUp requires people to prove their approvals. Denials never need a proof.
type StepUp struct {
	// Method is the required assurance.
	Method Assurance `json:"method"`
	// Approvals is the number of approvals that need the assurance. Zero
	// means all of them.
	Approvals int `json:"approvals,omitempty"`
	// Fallback is a weaker assurance that is accepted as well. It is empty if
	// there is none.
	Fallback Assurance `json:"fallback,omitempty"`
}

// Accepts reports whether an approval with an assurance satisfies the
// requirement. A nil StepUp accepts every approval.
func (s *StepUp) Accepts(a Assurance) bool {
	return s == nil || a != "" && (a == s.Method || a == s.Fallback)
}

// Join returns a requirement that satisfies both: the larger number of
// approvals, and the fallback only if both have it. A nil StepUp requires
// nothing.
func (s *StepUp) Join(t *StepUp) *StepUp {
	switch {
	case s == nil:
		return t
	case t == nil:
		return s
	}
	out := *s
	if out.Approvals = max(s.Approvals, t.Approvals); s.Approvals == 0 || t.Approvals == 0 {
		out.Approvals = 0
	}
	if s.Fallback != t.Fallback {
		out.Fallback = ""
	}
	return &out
}

// Stricter reports whether s requires anything that was does not.
func (s *StepUp) Stricter(was *StepUp) bool {
	if s == nil {
		return false
	}
	return was == nil || *was.Join(s) != *was
}

// Words describes the requirement in one clause, such as "2 approvals with a
// passkey".
func (s *StepUp) Words() string {
	var out string
	switch {
	case s == nil:
		return ""
	case s.Approvals == 0:
		out = "a passkey"
	case s.Approvals == 1:
		out = "1 approval with a passkey"
	default:
		out = strconv.Itoa(s.Approvals) + " approvals with a passkey"
	}
	if s.Fallback == AssuranceTOTP {
		out += " or a one-time code"
	}
	return out
}

// RequireProof adds a requirement to that of the interaction, and raises the
// quorum to the number of approvals that need the proof.
func (p *Placement) RequireProof(s *StepUp) {
	if p.StepUp = p.StepUp.Join(s); p.StepUp != nil {
		p.Quorum = max(p.Quorum, p.StepUp.Approvals)
	}
}

// assured returns the number of approvals that need the assurance.
func (p Placement) assured() int {
	switch {
	case p.StepUp == nil:
		return 0
	case p.StepUp.Approvals == 0:
		return p.Needs()
	}
	return p.StepUp.Approvals
}

// NeedsAssurance reports whether the next approval, which is by actor, has to
// carry the assurance. The other approvals of a quorum do not, once they leave
// room for those that do.
func (r Record) NeedsAssurance(actor Actor) bool {
	s := r.Interaction.StepUp
	if s == nil {
		return false
	}
	if s.Approvals == 0 {
		return true
	}
	have, plain := 0, 0
	for _, v := range r.Votes {
		switch {
		case v.State != StateApproved:
		case v.SameVoter(Vote{Actor: actor}):
			if !s.Accepts(v.Assurance) {
				plain = r.Interaction.Needs() // the person approves again to add the proof
			}
		case s.Accepts(v.Assurance):
			have++
		default:
			plain++
		}
	}
	return have < s.Approvals && plain >= r.Interaction.Needs()-s.Approvals
}

// Unproven reports whether a response approves a pending record without the
// assurance that its actor has to give.
func (r Record) Unproven(actor Actor, resp Response) bool {
	open := !r.State.Final() && resp.State == StateApproved
	return open && !r.Interaction.StepUp.Accepts(resp.Assurance) && r.NeedsAssurance(actor)
}

// lacksAssurance returns the number of approvals with the assurance that are
// still required.
func (r Record) lacksAssurance() int {
	s := r.Interaction.StepUp
	if s == nil {
		return 0
	}
	left, plain := r.Interaction.assured(), 0
	for _, v := range r.Votes {
		switch {
		case v.State != StateApproved:
		case s.Accepts(v.Assurance):
			left--
		default:
			plain++
		}
	}
	if s.Approvals == 0 {
		left = max(left, plain)
	}
	return max(left, 0)
}

// Unassured reports whether a response approves an interaction without the
// assurance that it requires. The response of a grant is not a person's
// approval of this interaction: the grant itself carries the assurance.
// A rule that allows the request asks no one.
func (i Interaction) Unassured(r Response) bool {
	ruled := r.Rule != "" && r.Actor == nil
	if r.State != StateApproved || i.StepUp == nil || r.Grant != "" || ruled {
		return false
	}
	one := i.StepUp.Approvals == 0 || !i.Counted() // else the slots count
	return one && !i.StepUp.Accepts(r.Assurance)
}

// TicketTTL is the time for which a ticket is valid.
const TicketTTL = 5 * time.Minute

// Ticket is an approval of a person that waits for a proof. Its secret is in the
// link that only the person receives.
type Ticket struct {
	ID    ID    `json:"id"`
	Actor Actor `json:"actor"` // with Person
	// Response is the approval, as the person gave it.
	Response Response `json:"response"`
	// Shown identifies the content and the terms that the person saw.
	Shown string `json:"shown"`
	// Statement is the text that a passkey signs.
	Statement Statement `json:"statement"`
	Expires   time.Time `json:"expires"`
}

// AssuredVoters returns the names of the people who approved, each with the
// words for its assurance.
func (r Record) AssuredVoters(s State) []string {
	var names []string
	for _, v := range r.Votes {
		if v.State == s {
			names = append(names, v.Actor.Display()+v.Assurance.With())
		}
	}
	return names
}

// SameAssurance returns the assurance that all approvals of the record have. It
// is empty if they differ.
func (r Record) SameAssurance() Assurance {
	if len(r.Votes) == 0 {
		return r.Response.Assurance
	}
	all := slices.DeleteFunc(slices.Clone(r.Votes), func(v Vote) bool { return v.State != StateApproved })
	if len(all) == 0 || slices.ContainsFunc(all, func(v Vote) bool { return v.Assurance != all[0].Assurance }) {
		return ""
	}
	return all[0].Assurance
}
