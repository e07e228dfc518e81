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

// Ballot is a vote on an interaction that requires several.
type Ballot struct {
	ID   ID
	Vote Vote
	// Covers holds the indexes into Placement.Slots that the voter counts
	// toward.
	Covers []int
	// Expect is the value of Record.Amended when the vote was checked. If the
	// stored value has changed, the vote fails with CodeConflict. If Expect is
	// nil, there is no check.
	Expect *int
	// Response is the response if this vote decides.
	Response Response
	Nonce    string
	// Receipt is the receipt of a decision that a failover lost, if this vote
	// made that decision. It stays the same if the same votes decide again.
	Receipt string
	// Recorded is the time when the vote was first recorded, if a failover lost
	// it. A vote that was first recorded before the deadline still counts after
	// it.
	Recorded time.Time
}

// BallotResult is the result of a ballot.
type BallotResult string

// The results.
const (
	BallotDecided BallotResult = "decided" // this vote was the last required vote
	BallotCounted BallotResult = "counted"
	BallotRepeat  BallotResult = "repeat" // the person had already voted the same way
	BallotLate    BallotResult = "late"   // the request was already closed
)

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
