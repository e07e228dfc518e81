package bridge

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Counted reports whether decisions are counted as votes, because the request
// has a quorum, required approvers or several routes, or because one denial
// does not close it.
func (p Placement) Counted() bool {
	return p.Needs() > 1 || len(p.Must) > 0 || len(p.Requirements) > 1 || p.DenyCounts
}

// counts reports whether a vote is an approval with the required assurance.
func (r Record) counts(v Vote) bool {
	return v.State == StateApproved && r.Interaction.StepUp.Accepts(v.Assurance)
}

// Approvals returns the number of people whose approvals count so far.
func (r Record) Approvals() int {
	n := 0
	for _, v := range r.Votes {
		if r.counts(v) {
			n++
		}
	}
	return n
}

// Open returns, for each slot, the number of approvals that are missing.
func (r Record) Open() []int {
	left := r.Interaction.Slots()
	for _, v := range r.Votes {
		if !r.counts(v) {
			continue
		}
		for _, n := range v.Covers {
			if n < len(left) && left[n] > 0 {
				left[n]--
			}
		}
	}
	return left
}

// Lacks returns the number of additional people who must approve because of
// required approvers and routes. A required approver counts for each route that
// names them, and toward its quorum.
func (r Record) Lacks() int {
	names, more := map[string]bool{}, map[int]int{}
	slots := r.Interaction.ApprovalSlots()
	for n, left := range r.Open() {
		switch s := slots[n]; {
		case left <= 0:
		case s.Must != "":
			names[s.Must] = true
			more[s.Requirement]--
		default:
			more[s.Requirement] += left
		}
	}
	lacks := len(names)
	for _, n := range more {
		lacks += max(n, 0)
	}
	return lacks
}

// Count returns the number of people who have approved, and the total number of
// people who must approve because of the quorum, the required approvers and the
// routes.
func (r Record) Count() (have, need int) {
	have = r.Approvals()
	return have, max(r.Interaction.Needs(), have+r.Lacks())
}

// Missing describes the approvals that are still required. It is empty if there
// are none.
func (r Record) Missing() string {
	i := r.Interaction
	var s, names []string
	for n, must := range i.Must {
		if !slices.ContainsFunc(r.Votes, func(v Vote) bool { return r.counts(v) && slices.Contains(v.Covers, n) }) {
			names = append(names, i.NameOf(must))
		}
	}
	// Named people also count toward the number.
	if left := i.Needs() - r.Approvals() - len(names); left > 0 && len(i.Requirements) == 0 {
		s = append(s, strconv.Itoa(left)+" more"+i.StepUp.With())
	}
	for n, q := range i.Requirements {
		if m := r.missingOf(n); m != "" {
			s = append(s, q.Route+": "+m)
		}
	}
	if left := i.Needs() - r.Approvals(); left > 0 && len(i.Requirements) > 0 && len(s) == 0 {
		s = append(s, strconv.Itoa(left)+" more"+i.StepUp.With())
	}
	return strings.Join(append(s, names...), ", ")
}

// Voters returns the names of the people who voted for a state.
func (r Record) Voters(s State) []string {
	var names []string
	for _, v := range r.Votes {
		if v.State == s {
			names = append(names, v.Actor.Display())
		}
	}
	return names
}

// Voted returns the note that nod counted a vote, with the approvals that are
// still missing.
func (r Record) Voted() string {
	have, need := r.Count()
	s := "Recorded. " + strconv.Itoa(have) + " of " + strconv.Itoa(need) + " have approved"
	if m := r.Missing(); m != "" {
		s += "; still needed: " + m
	}
	return s + "."
}

// Requirement holds the requirements of one route of a request with several
// routes.
type Requirement struct {
	Route      string      `json:"route"`
	Responders []Responder `json:"responders"`
	Groups     []string    `json:"groups,omitempty"`
	// Quorum is the number of required approvals by its own responders.
	// Zero means one.
	Quorum int `json:"quorum,omitempty"`
	// Must lists the required approvers; see Placement.Must. They count
	// only if they are responders of this route.
	Must     []string `json:"must,omitempty"`
	HandOver []string `json:"hand_over,omitempty"`
}

// Addition holds people who were added to a request while it was pending.
type Addition struct {
	// For is the route of the requirement that these responders count toward.
	// It is empty if the request has one route.
	For string `json:"for,omitempty"`
	// Route is the route of these responders. It is empty if they were added by
	// name.
	Route      string      `json:"route,omitempty"`
	Responders []Responder `json:"responders,omitempty"`
	Groups     []string    `json:"groups,omitempty"`
}

// Add adds people to the responders, and to the requirement that they count
// toward.
func (p *Placement) Add(a Addition) {
	p.Responders = append(slices.Clone(p.Responders), Missing(p.Responders, a.Responders)...)
	p.Groups = append(slices.Clone(p.Groups), Missing(p.Groups, a.Groups)...)
	p.Added = append(slices.Clone(p.Added), a)
	p.Requirements = slices.Clone(p.Requirements)
	for n := range p.Requirements {
		if q := &p.Requirements[n]; q.Route == a.For {
			q.Responders = append(slices.Clone(q.Responders), Missing(q.Responders, a.Responders)...)
			q.Groups = append(slices.Clone(q.Groups), Missing(q.Groups, a.Groups)...)
		}
	}
}

// RouteRequirements returns the requirements of each route, even if there is
// only one route.
func (i Interaction) RouteRequirements() []Requirement {
	if len(i.Requirements) > 0 {
		return i.Requirements
	}
	return []Requirement{{
		Route: i.Route, Responders: i.Responders, Groups: i.Groups, Quorum: i.Quorum, Must: i.Must,
		HandOver: i.HandOver,
	}}
}

// slot is a requirement that approvals are counted toward, in addition to the
// quorum of the request.
type slot struct {
	Requirement int // index into Requirements; -1 for the whole request
	Must        string
	needed      int
}

// ApprovalSlots returns the slots in the order that votes refer to: first the
// slots of Must, and then, for each requirement, its quorum and its required
// approvers.
func (p Placement) ApprovalSlots() []slot {
	var out []slot
	for _, who := range p.Must {
		out = append(out, slot{Requirement: -1, Must: who, needed: 1})
	}
	for n, q := range p.Requirements {
		out = append(out, slot{Requirement: n, needed: max(q.Quorum, 1)})
		for _, who := range q.Must {
			out = append(out, slot{Requirement: n, Must: who, needed: 1})
		}
	}
	return out
}

// Slots returns the number of approvals that each slot requires. Vote.Covers
// holds indexes into this list.
func (p Placement) Slots() []int {
	var out []int
	for _, s := range p.ApprovalSlots() {
		out = append(out, s.needed)
	}
	return out
}

// missingOf describes the approvals that a requirement still lacks: a number of
// approvals, and the names of the required approvers. The number does not
// include these approvers.
func (r Record) missingOf(n int) string {
	more, open := 0, r.Open()
	var names []string
	for at, slot := range r.Interaction.ApprovalSlots() {
		switch {
		case slot.Requirement != n || open[at] == 0:
		case slot.Must != "":
			names = append(names, r.Interaction.NameOf(slot.Must))
		default:
			more = open[at]
		}
	}
	if more -= len(names); more > 0 {
		names = slices.Insert(names, 0, strconv.Itoa(more)+" more")
	}
	return strings.Join(names, " and ")
}

// Require adds the requirement and the destinations of a route.
func (p *Placement) Require(q Requirement, route Route) {
	p.Requirements = append(p.Requirements, q)
	p.Destinations = append(p.Destinations, Missing(p.Destinations, route.Destinations)...)
	p.Responders = append(p.Responders, Missing(p.Responders, q.Responders)...)
	p.Groups = append(p.Groups, Missing(p.Groups, q.Groups)...)
	p.HandOver = append(p.HandOver, Missing(p.HandOver, q.HandOver)...)
	p.Quorum = max(p.Quorum, q.Quorum)
}

// Missing returns the elements of b that are not in a.
func Missing[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(b), func(v T) bool { return slices.Contains(a, v) })
}

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

// Same reports whether two votes come from the same click.
func (v Vote) Same(w Vote) bool {
	return v.SameVoter(w) && v.State == w.State && v.Scope == w.Scope && v.At.Equal(w.At)
}

// Times holds the creation time and the deadline of an interaction.
type Times struct{ Created, Deadline time.Time }
